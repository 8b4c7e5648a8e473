// What the copies of a queue share, and how it ends with Kokkos. Internal.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include <Kokkos_Core.hpp>

#include <keramos/base/error.hpp>
#include <keramos/base/export.hpp>
#include <keramos/core/detail/instance.hpp>
#include <keramos/core/detail/queue_state.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/core/event.hpp>

namespace keramos::detail {

[[noreturn, gnu::noinline]] inline void throw_finalized() {
  throw not_initialized(
      "keramos::queue: Kokkos was finalised after this queue was made; use queues only while Kokkos, or a "
      "keramos::runtime, is alive");
}

/// Held while Kokkos, which has no lock there, notes what to do at its end: queues of all execution spaces ask for it.
KERAMOS_EXPORT inline std::mutex& hooks() {
  static std::mutex mutex;
  return mutex;
}

/// A queue's instance and memory. Kokkos::finalize takes both away first, so that a queue may outlive it: what is
/// asked of the queue then throws.
template <class Exec>
class queue_core {
 public:
  queue_core(Exec instance, bool profiling)
      : exec_(std::move(instance)), state(std::make_shared<queue_state>(profiling)) {
    std::lock_guard lock(all().mutex);
    all().queues.insert(this);
    if (std::exchange(all().hooked, true)) return;
    const std::lock_guard lock_of_hooks(hooks());
    Kokkos::push_finalize_hook(end_all);
  }
  ~queue_core() {
    std::lock_guard lock(all().mutex);
    all().queues.erase(this);
  }
  queue_core(const queue_core&) = delete;
  queue_core& operator=(const queue_core&) = delete;

  /// @throws not_initialized after Kokkos::finalize.
  const Exec& exec() const {
    if (!exec_) throw_finalized();
    return *exec_;
  }
  bool has_ended() const { return !exec_; }

 private:
  struct registry {
    std::mutex mutex;
    std::unordered_set<queue_core*> queues;
    bool hooked = false;
  };
  static registry& all() {
    static registry* const all = new registry;  // never destroyed: queues may be static objects
    return *all;
  }
  static void end_all() {
    std::lock_guard lock(all().mutex);
    for (queue_core* q : all().queues) q->end();
    all().hooked = false;
  }
  void end() {
    if (!exec_) return;
    last.drop();
    fence(*exec_);
    memory = {};
    exec_.reset();
  }

  std::optional<Exec> exec_;

 public:
  std::shared_ptr<queue_state> state;  // of its own, for host tasks under way
  workspace<Exec> memory;
  last_completion<Exec> last;
  basic_event<Exec> origin;  // what device times are counted from
};

}  // namespace keramos::detail
