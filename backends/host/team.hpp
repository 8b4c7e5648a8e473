// How launches run on a host: on Kokkos' threads, or at once on the thread that launches.
//
// Any number of host threads may launch, each on a queue of its own. Kokkos' host spaces share what a kernel needs
// (scratch, team data, the pool of threads) among all that launch: Kokkos 3 does not guard it, later ones let one
// launch wait for another. So groups get their local memory from here, a block for each thread. And where Kokkos
// would use one thread in any case, the calling thread runs the kernel without Kokkos, unless a tool listens.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <keramos/backends/interface.hpp>
#include <keramos/base/export.hpp>
#include <keramos/base/kokkos.hpp>

namespace keramos::backend::host {

/// Local memory of the calling thread, for as long as the object lives. Threads keep it for the next kernel. A
/// kernel that launches another one on its own thread does not share it: the inner one gets the next block.
class local_block {
 public:
  static constexpr std::size_t alignment = 128;

  explicit local_block(std::size_t bytes) : memory_(bytes > 0 ? of_this_thread().take(bytes) : nullptr) {}
  ~local_block() {
    if (memory_) --of_this_thread().taken;
  }
  local_block(const local_block&) = delete;
  local_block& operator=(const local_block&) = delete;

  std::byte* data() const { return memory_; }

 private:
  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(alignment)); }
  };
  struct block {
    std::unique_ptr<std::byte[], aligned_delete> memory;
    std::size_t bytes = 0;
  };
  struct stack {
    std::vector<block> blocks;
    std::size_t taken = 0;

    std::byte* take(std::size_t bytes) {
      if (taken == blocks.size()) blocks.emplace_back();
      block& b = blocks[taken];
      if (b.bytes < bytes) {
        b = {};  // before more is asked for
        b.memory.reset(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t(alignment))));
        b.bytes = bytes;
      }
      ++taken;
      return b.memory.get();
    }
  };
  static stack& of_this_thread() {
    static thread_local stack blocks;
    return blocks;
  }

  std::byte* memory_;
};

/// What a kernel gets of its team: Kokkos' names for a team of one thread.
class team {
 public:
  KOKKOS_FORCEINLINE_FUNCTION team(int rank, int size, std::byte* local)
      : league_rank_(rank), league_size_(size), local_(local) {}

  KOKKOS_FORCEINLINE_FUNCTION int league_rank() const { return league_rank_; }
  KOKKOS_FORCEINLINE_FUNCTION int league_size() const { return league_size_; }
  KOKKOS_FORCEINLINE_FUNCTION int team_rank() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION int team_size() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION void team_barrier() const {}

  KOKKOS_FORCEINLINE_FUNCTION const team& team_scratch(int /*level*/) const { return *this; }
  /// The next `bytes` of the local memory that the launch asked for.
  KOKKOS_FORCEINLINE_FUNCTION void* get_shmem_aligned(std::size_t bytes, std::size_t alignment) const {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    void* const memory = local_ + used_;
    used_ += bytes;
    return memory;
  }

 private:
  int league_rank_, league_size_;
  std::byte* local_;
  mutable std::size_t used_ = 0;  // local_ is aligned for anything
};

/// Held while Kokkos runs a kernel. Kokkos 3 has one scratch for all threads that launch, and no lock of its own.
/// One thread may hold it several times, for kernels that launch others.
class KERAMOS_EXPORT launch_lock {  // one mutex, whoever includes this
 public:
  launch_lock() {
    if constexpr (detail::kokkos_before_4) lock_ = std::unique_lock(mutex());
  }

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex mutex;
    return mutex;
  }
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Threads that share the work of a launch by the calling thread.
template <class Exec>
int threads_for(const Exec& exec) {
  return traits<Exec>::may_launch() ? int(exec.concurrency()) : 1;
}

/// Whether the calling thread runs what it launches itself.
template <class Exec>
bool runs_in_caller(const Exec& exec) {
  return !traits<Exec>::may_launch() || (exec.concurrency() == 1 && !Kokkos::Tools::profileLibraryLoaded());
}

/// `kernel(i)` for i of 0 ... count - 1 on threads shared out by Policy, a Kokkos::RangePolicy. Of the label no string is made
/// unless Kokkos needs one.
template <class Policy, class Exec, class Index, class Kernel>
void for_each_index(const char* label, const Exec& exec, Index count, const Kernel& kernel) {
  if (runs_in_caller(exec)) {
    for (Index i = 0; i < count; ++i) kernel(i);
  } else {
    const launch_lock lock;
    Kokkos::parallel_for(label, Policy(exec, Index(0), count), kernel);
  }
}

}  // namespace keramos::backend::host
