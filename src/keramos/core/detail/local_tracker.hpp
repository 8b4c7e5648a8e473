// The checked build's eye on local memory, on hosts, where a group is one thread and a missing barrier does
// no harm that could be seen otherwise. Internal; only included with KERAMOS_CHECKS.
//
// Each local element remembers the epoch (the number of barriers before) and item of its last write and of
// its last access. Within an epoch, an item that accesses what another wrote, or writes what another
// accessed, ends the program with a message. A write is a change of value, found when the item's turn in a
// phase ends: writing what was there already is not seen. Elements reached through data() are not watched.
//
// Variables of a kernel outside its phases are uniform. A phase that holds addresses of such ([&], or a pointer) runs
// with addresses in a copy of the kernel's stack instead; what items change there, they change by mistake. Nothing
// else tells such a phase from a right one when compiling: captured references are no part of a lambda's type, and an
// array's handle is a pointer too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

namespace keramos::detail {

class local_tracker {
 public:
  /// For a group that begins on this thread, until end(). The groups of a kernel that a kernel launches have others.
  static local_tracker& of_next_group() {
    stack& s = of_this_thread();
    if (s.taken == s.trackers.size()) s.trackers.emplace_back();
    return s.trackers[s.taken++];
  }
  void end() { --of_this_thread().taken; }

  /// A group begins. Its local memory is filled with all-ones bytes (NaN as floating-point numbers, -1 as
  /// integers), so that what is read before it is written shows.
  void begin(const char* label, long long group, std::byte* local, std::size_t bytes) {
    label_ = label;
    group_ = group;
    local_ = local;
    if (bytes > 0) std::memset(local, 0xff, bytes);
    if (shadow_.size() < bytes) shadow_.resize(bytes);
    arrays_.clear();
    ++epoch_;
    barriers_ = 0;
    item_ = whole_group;
    touched_.clear();
    old_.clear();
  }
  /// `kernel()`, with the stack from here on as its own.
  template <class F>
  [[gnu::noinline]] void run(const F& kernel) {
    std::byte first{};
    stack_end_ = as_number(&first);
    run_apart(kernel);
  }
  /// The kernel's array number `which`, for messages.
  template <class Array>
  void name(int which, const Array& a) {
    for (const named_array& known : arrays_)
      if (known.which == which) return;
    named_array n{which,
                  std::size_t(reinterpret_cast<const std::byte*>(a.data()) - local_),
                  sizeof(typename Array::value_type),
                  {},
                  0};
    for (int d = 0; d < Array::rank; ++d) n.extent.push_back(a.extent(d));
    if constexpr (requires { Array::pitch; })
      n.pitch = Array::pitch;
    else
      n.pitch = n.extent.back();
    arrays_.push_back(std::move(n));
  }
  void barrier() {
    end_item();
    ++epoch_;
    ++barriers_;
  }
  /// An item's turn in a phase; between turns, and in between phases, the whole group's.
  void begin_item(int item) {
    end_item();
    item_ = item;
  }
  void end_item() {
    if (!uniform_.empty() && std::memcmp(uniform_.data(), uniform_copy_, uniform_.size()) != 0)
      fail(
          "changes a variable from outside its phase, of which each thread of a GPU has its own. Capture by "
          "value, [=], "
          "and hand results on in local memory or a private value (rules 4 and 5)");
    std::size_t old = 0;
    for (const touch& t : touched_) {
      element& e = shadow_[t.offset];
      if (std::memcmp(local_ + t.offset, old_.data() + old, t.size) != 0) {
        if (item_ == whole_group)
          fail("writes " + name_of(t) + ", once for each thread of the team. Write it in a phase (rule 2)");
        if (e.access_epoch == epoch_ && e.accessed_by != item_)
          fail("writes " + name_of(t) + ", which " + name_of(e.accessed_by) + " used" + no_barrier);
        e.write_epoch = epoch_;
        e.written_by = item_;
      }
      e.accessed_by = e.access_epoch == epoch_ && e.accessed_by != item_ ? several : item_;
      e.access_epoch = epoch_;
      old += t.size;
    }
    touched_.clear();
    old_.clear();
    ++turn_;
    item_ = whole_group;
  }
  /// Somebody asks for the element at p.
  void access(const void* p, std::size_t size) {
    const auto offset = std::size_t(static_cast<const std::byte*>(p) - local_);
    if (offset >= shadow_.size()) return;  // not this group's local memory
    element& e = shadow_[offset];
    if (e.write_epoch == epoch_ && e.written_by != item_)
      fail("uses " + name_of({offset, size}) + ", which " + name_of(e.written_by) + " wrote" + no_barrier);
    if (e.turn == turn_) return;
    e.turn = turn_;
    touched_.push_back({offset, size});
    const auto* at = static_cast<const std::byte*>(p);
    old_.insert(old_.end(), at, at + size);
  }

  /// The phase to call: this one, or a copy that refers to copies of the kernel's variables.
  [[gnu::noinline]] const void* watched(const void* phase, std::size_t size) {
    std::byte here{};
    const std::uintptr_t begin = as_number(&here), bytes = stack_end_ - begin;
    std::vector<std::size_t> addresses;
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= size; at += sizeof(std::uintptr_t))
      if (word(static_cast<const std::byte*>(phase) + at) - begin < bytes) addresses.push_back(at);
    if (addresses.empty()) return phase;
    // The copies are aligned as the originals are.
    const auto place = [](std::vector<std::byte>& memory, std::size_t n, std::uintptr_t like) {
      constexpr std::uintptr_t alignment = 256;
      memory.resize(n + alignment);
      return memory.data() + (like - as_number(memory.data())) % alignment;
    };
    uniform_copy_ = place(stack_copy_, bytes, begin);
    copy_stack(uniform_copy_, &here, bytes);
    uniform_.assign(uniform_copy_, uniform_copy_ + bytes);
    std::byte* const copy = place(phase_copy_, size, as_number(phase));
    std::memcpy(copy, phase, size);
    for (const std::size_t at : addresses) {
      const std::uintptr_t moved = word(copy + at) - begin + as_number(uniform_copy_);
      std::memcpy(copy + at, &moved, sizeof moved);
    }
    return copy;
  }
  void forget_uniform() { uniform_.clear(); }
  [[noreturn]] void fail_index(const void* array, long long index, long long extent, int d) const {
    const named_array* in = array_at(std::size_t(static_cast<const std::byte*>(array) - local_));
    fail("asks " + (in ? in->name() : "a local array") + " for index " + std::to_string(index) +
         " in dimension " + std::to_string(d) + ", of extent " + std::to_string(extent));
  }
  [[noreturn]] void fail_in_phase(const char* does) const {
    fail(std::string(does) +
         " inside a phase. End the phase first, and let it capture by value, [=], so that this does not "
         "compile (rule 5)");
  }

  /// The numbers 0 ... count - 1 in a new random order. KERAMOS_SEED=<number> repeats a run's orders.
  const std::vector<int>& shuffled(int count) {
    order_.resize(std::size_t(count));
    for (int i = 0; i < count; ++i) order_[std::size_t(i)] = i;
    for (int i = count - 1; i > 0; --i)
      std::swap(order_[std::size_t(i)], order_[std::size_t(random_() % std::uint64_t(i + 1))]);
    return order_;
  }

 private:
  struct stack {
    std::deque<local_tracker> trackers;
    std::size_t taken = 0;
  };
  static stack& of_this_thread() {
    static thread_local stack trackers;
    return trackers;
  }

  static constexpr int whole_group = -1, several = -2, nobody = -3;

  struct element {
    std::uint64_t write_epoch = 0, access_epoch = 0, turn = 0;
    int written_by = nobody, accessed_by = nobody;
  };
  struct touch {
    std::size_t offset, size;
  };
  struct named_array {
    int which;
    std::size_t offset, element_bytes;
    std::vector<int> extent;
    int pitch;

    std::string name() const { return "local<" + std::to_string(which) + ">()"; }
  };

  static std::uint64_t seed() {
    static const std::uint64_t seed = [] {
      const char* given = std::getenv("KERAMOS_SEED");
      return given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    }();
    return seed;
  }
  static std::string name_of(int item) {
    if (item == whole_group) return "code outside phases";
    if (item == several) return "several items";
    return "item " + std::to_string(item);
  }
  const named_array* array_at(std::size_t offset) const {
    const named_array* in = nullptr;
    for (const named_array& a : arrays_)
      if (a.offset <= offset && (!in || in->offset < a.offset)) in = &a;
    return in;
  }
  std::string name_of(const touch& t) const {
    const named_array* in = array_at(t.offset);
    if (!in) return "the local element at byte " + std::to_string(t.offset);
    std::string indices;
    std::size_t rest = (t.offset - in->offset) / in->element_bytes;
    for (std::size_t d = in->extent.size(); d-- > 0;) {
      const auto n = std::size_t(d + 1 == in->extent.size() ? in->pitch : in->extent[d]);
      indices = std::to_string(d == 0 ? rest : rest % n) + (indices.empty() ? "" : ", ") + indices;
      rest /= n;
    }
    return "element (" + indices + ") of " + in->name();
  }
  static std::uintptr_t as_number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }
  static std::uintptr_t word(const std::byte* p) {
    std::uintptr_t w;
    std::memcpy(&w, p, sizeof w);
    return w;
  }
  // Byte by byte, because AddressSanitizer forbids others to read between variables.
  [[gnu::noinline, gnu::no_sanitize_address]] static void copy_stack(std::byte* to,
                                                                     const volatile std::byte* from,
                                                                     std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
  template <class F>
  [[gnu::noinline]] static void run_apart(const F& kernel) {
    kernel();
  }

  /// `what` is what the item does, and the cure.
  [[noreturn]] void fail(const std::string& what) const {
    static std::mutex first_to_fail;
    first_to_fail.lock();  // for good: one message is enough
    const std::string message =
        "keramos: kernel " + std::string(label_) + ", group " + std::to_string(group_) + ", after " +
        std::to_string(barriers_) + (barriers_ == 1 ? " barrier: " : " barriers: ") + name_of(item_) + " " +
        what + ". With KERAMOS_SEED=" + std::to_string(seed()) + " items run in this order again.\n";
    Kokkos::abort(message.c_str());
    std::abort();
  }

  static constexpr const char* no_barrier =
      " since the last barrier. Put g.barrier() between the two phases (rule 3)";

  const char* label_ = "";
  long long group_ = 0;
  std::byte* local_ = nullptr;
  int barriers_ = 0;
  int item_ = whole_group;
  std::uint64_t epoch_ = 1, turn_ = 1;
  std::vector<element> shadow_;
  std::vector<touch> touched_;
  std::vector<std::byte> old_;
  std::vector<int> order_;
  std::vector<named_array> arrays_;
  std::uintptr_t stack_end_ = 0;
  std::byte* uniform_copy_ = nullptr;  // in stack_copy_: what phases refer to
  std::vector<std::byte> uniform_;  // the same as it was when the phase began; empty if it refers to nothing
  std::vector<std::byte> stack_copy_, phase_copy_;
  std::mt19937_64 random_{seed()};
};

}  // namespace keramos::detail
