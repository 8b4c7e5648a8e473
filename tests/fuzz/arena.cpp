#include "arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <type_traits>

namespace keramos::fuzz {
namespace {

using space = default_execution_space::memory_space;
constexpr bool is_of_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, space>::accessible;

std::size_t page() { return std::size_t(sysconf(_SC_PAGESIZE)); }

template <class Byte, class Space>
using bytes_in = Kokkos::View<Byte*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace

arena::arena(std::size_t bytes) : bytes_((bytes + page() - 1) / page() * page()) {
  if constexpr (is_of_host) {
    void* const all =
        mmap(nullptr, bytes_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    begin_ = static_cast<char*>(all) + page();
    if (all == MAP_FAILED || mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  } else {
    begin_ = static_cast<char*>(Kokkos::kokkos_malloc<space>("arena", bytes_));
  }
}

arena::~arena() {
  if constexpr (is_of_host)
    munmap(begin_ - page(), bytes_ + 2 * page());
  else
    Kokkos::kokkos_free<space>(begin_);
}

backend_copy::backend_copy(const void* from, std::size_t bytes) : copy_("addresses", bytes) {
  copy_to_arena(copy_.data(), from, bytes);
}

void copy_to_arena(void* to, const void* from, std::size_t bytes) {
  Kokkos::deep_copy(bytes_in<char, space>(static_cast<char*>(to), bytes),
                    bytes_in<const char, Kokkos::HostSpace>(static_cast<const char*>(from), bytes));
}

void copy_from_arena(void* to, const void* from, std::size_t bytes) {
  Kokkos::deep_copy(bytes_in<char, Kokkos::HostSpace>(static_cast<char*>(to), bytes),
                    bytes_in<const char, space>(static_cast<const char*>(from), bytes));
}

}  // namespace keramos::fuzz
