// Buffers and accessors (SYCL 2020, sections 4.7.2 and 4.7.6): memory that is where it is used, and kernels
// that wait for each other because of what they use.
//
//   keramos::buffer<double, 1> x{range{n}};   // in braces: g++ 11 takes (range{n}) for a function's parameter
//   {
//     keramos::host_accessor h(x, keramos::write_only, keramos::no_init);
//     for (index_t i = 0; i < n; ++i) h[i] = i;
//   }
//   q.submit([&](keramos::handler<>& h) {                           // or without a command group:
//     keramos::accessor a(x, h, keramos::read_write);                 //   keramos::accessor a(x, q, ...);
//     h.parallel_for("scale", range{n}, KERAMOS_LAMBDA(index_t i) { a[i] *= 2; });   //   q.parallel_for(...)
//   });
//
// An accessor made with a handler orders that kernel; one made with a queue orders what the queue holds when
// another queue or the host next asks for the buffer, so launch its kernels before that. Reads of several queues overlap;
// a write waits for all accesses before it, and is waited for, on the device. Elements are row-major.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/base/checks.hpp>
#include <keramos/core/detail/buffer_state.hpp>
#include <keramos/core/queue.hpp>

namespace keramos {

template <access_mode Mode>
struct mode_tag {};
inline constexpr mode_tag<access_mode::read> read_only{};
inline constexpr mode_tag<access_mode::write> write_only{};
inline constexpr mode_tag<access_mode::read_write> read_write{};
/// Property of an accessor: the contents before it do not matter.
struct no_init_t {};
inline constexpr no_init_t no_init{};

/// `Rank`-dimensional memory for kernels on `Exec` and for the host. Copies share it; the last one waits for
/// the work that uses it. One thread at a time uses a buffer. T is trivially copyable.
template <class T, int Rank = 1, class Exec = default_execution_space>
class buffer {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "keramos: buffers hold trivially copyable values, which copies between memories can move");
  using state = detail::buffer_state<T, Rank, Exec>;

 public:
  using value_type = T;
  using view_type = typename state::device_view;

  /// Memory that nothing has written yet.
  /// @throws invalid_argument if an extent is negative or no memory could hold so many elements.
  explicit buffer(const range<Rank>& r, std::string label = "keramos::buffer") {
    detail::check_range("keramos::buffer", label, r);
    if (r.size() > std::numeric_limits<index_t>::max() / index_t(sizeof(T)))
      throw invalid_argument("keramos::buffer: " + label + ": " + std::to_string(r.size()) +
                             " elements have more than 2^63 - 1 bytes; check how the range was computed");
    state_ = std::make_shared<state>(r, std::move(label));
  }
  /// The host memory at `data`, which stays in use and holds the contents again when the last copy is gone.
  buffer(T* data, const range<Rank>& r, std::string label = "keramos::buffer") : buffer(r, std::move(label)) {
    check_data(data);
    state_->use_host_memory(data);
    state_->set_write_back(true);
  }
  /// A copy of the host memory at `data`.
  buffer(const T* data, const range<Rank>& r, std::string label = "keramos::buffer")
      : buffer(r, std::move(label)) {
    check_data(data);
    if (r.size() == 0) return;
    T* to = state_->host_access(access_mode::write, false);
    std::copy(data, data + r.size(), to);
    state_->end_host_access(access_mode::write);
  }
  /// The memory of a View that kernels on Exec can access: row-major and without gaps. Not copied; on GPUs what the host writes by
  /// a host_accessor is there when kernels use the buffer next, view() is called, or the last copy of the buffer is gone.
  explicit buffer(const view_type& v)
      : buffer(extents_of(v, std::make_index_sequence<std::size_t(Rank)>()), v.label()) {
    if (!v.span_is_contiguous())
      throw invalid_argument("keramos::buffer: View " + v.label() +
                             " has gaps between its elements; pass one that has none");
    state_->use_memory(v);
  }
  /// An mdspan over host memory, row-major and exhaustive. It stays in use, as a pointer does.
  template <class MdSpan>
  requires requires(const MdSpan& m) { m.data_handle(); }
  explicit buffer(const MdSpan& m, std::string label = "keramos::buffer")
      : buffer(data_without_gaps(m), extents_of(m, std::make_index_sequence<std::size_t(Rank)>()),
               std::move(label)) {}

  const range<Rank>& get_range() const { return state_->extents(); }
  std::size_t size() const { return std::size_t(get_range().size()); }
  /// Whether the contents are written back to the host memory that the buffer was made from. On host backends buffers work in
  /// that memory itself, and it changes whatever is set here.
  void set_write_back(bool on) { state_->set_write_back(on); }
  /// The device's memory as a Kokkos View, up to date; wait for the queues that write it. Host accessors that are made later see
  /// what was written through it until then.
  view_type view() const { return state_->view(); }

  /// Internal.
  const std::shared_ptr<state>& shared() const { return state_; }

 private:
  void check_data(const T* data) const {
    if (size() > 0 && !data)
      throw invalid_argument("keramos::buffer: data is null but the range has " + std::to_string(size()) +
                             " elements; pass where they are, or the range alone");
  }
  template <class MdSpan>
  static auto data_without_gaps(const MdSpan& m) {
    index_t stride = 1;
    for (int d = Rank - 1; d >= 0; --d) {
      if (m.extent(d) > 1 && index_t(m.stride(d)) != stride)
        throw invalid_argument("keramos::buffer: the mdspan is not row-major without gaps (stride " +
                               std::to_string(m.stride(d)) + " in dimension " + std::to_string(d) +
                               "); pass one of layout_right");
      stride *= index_t(m.extent(d));
    }
    return m.data_handle();
  }
  template <class V, std::size_t... D>
  static range<Rank> extents_of(const V& v, std::index_sequence<D...>) {
    return range<Rank>(v.extent(D)...);
  }
  std::shared_ptr<state> state_;
};
template <class T, class... Label>
buffer(T*, range<1>, Label...) -> buffer<std::remove_const_t<T>, 1>;
template <class T, class... Label>
buffer(T*, range<2>, Label...) -> buffer<std::remove_const_t<T>, 2>;
template <class T, class... Label>
buffer(T*, range<3>, Label...) -> buffer<std::remove_const_t<T>, 3>;

namespace detail {

/// Row-major elements; what accessors of kernels and of the host share.
template <class T, int Rank>
class elements {
 public:
  using value_type = std::remove_const_t<T>;

  KERAMOS_FORCEINLINE_FUNCTION index_t get_range(int d) const { return range_[d]; }
  KERAMOS_FORCEINLINE_FUNCTION index_t size() const { return range_.size(); }
  KERAMOS_FORCEINLINE_FUNCTION T* data() const { return data_; }

  KERAMOS_FORCEINLINE_FUNCTION T& operator[](id<Rank> i) const {
    index_t offset = 0;
    for (int d = 0; d < Rank; ++d) {
      check_index("accessor", i[d], range_[d], d);
      offset = offset * range_[d] + i[d];
    }
    return data_[offset];
  }
  template <class I>
  requires(std::is_integral_v<I>&& Rank == 1) KERAMOS_FORCEINLINE_FUNCTION T& operator[](I i) const {
    check_index("accessor", static_cast<index_t>(i), range_[0], 0);
    return data_[i];
  }
  template <class... I>
  requires(sizeof...(I) == Rank) KERAMOS_FORCEINLINE_FUNCTION T& operator()(I... i) const {
    return (*this)[id<Rank>(i...)];
  }

 protected:
  KERAMOS_FORCEINLINE_FUNCTION elements(T* data, const range<Rank>& r) : data_(data), range_(r) {}
  T* data_;
  range<Rank> range_;
};

template <class T, access_mode Mode>
using accessed = std::conditional_t<Mode == access_mode::read, const T, T>;

}  // namespace detail

/// What kernels use a buffer through: `a[i]`, `a[id]`, `a(i, j)`. Copied into them; it does not keep the
/// buffer alive, whose destructor waits for them.
template <class T, int Rank, access_mode Mode>
class accessor : public detail::elements<detail::accessed<T, Mode>, Rank> {
  using base = detail::elements<detail::accessed<T, Mode>, Rank>;

 public:
  template <class Exec>
  accessor(const buffer<T, Rank, Exec>& b, basic_queue<Exec>& q, mode_tag<Mode>)
      : accessor(b, q, true, true) {}
  template <class Exec>
  accessor(const buffer<T, Rank, Exec>& b, basic_queue<Exec>& q, mode_tag<Mode>, no_init_t)
      : accessor(b, q, overwrites(), true) {}
  template <class Exec>
  accessor(const buffer<T, Rank, Exec>& b, handler<Exec>& h, mode_tag<Mode>)
      : accessor(b, h.queue(), true, false) {
    h.uses(b.shared());
  }
  template <class Exec>
  accessor(const buffer<T, Rank, Exec>& b, handler<Exec>& h, mode_tag<Mode>, no_init_t)
      : accessor(b, h.queue(), overwrites(), false) {
    h.uses(b.shared());
  }

 private:
  /// `keep`: the contents matter; `open`: to all that the queue does from here on.
  template <class Exec>
  accessor(const buffer<T, Rank, Exec>& b, basic_queue<Exec>& q, bool keep, bool open)
      : base(b.shared()->device_access(q.number(), q.execution_space(), Mode, keep, open), b.get_range()) {}

  static constexpr bool overwrites() {
    static_assert(Mode != access_mode::read,
                  "keramos: a read_only accessor needs the contents; drop no_init");
    return false;  // the contents need not be kept
  }
};
template <class T, int Rank, class Exec, class Where, access_mode Mode, class... Property>
accessor(const buffer<T, Rank, Exec>&, Where&, mode_tag<Mode>, Property...) -> accessor<T, Rank, Mode>;

/// The host's access: waits for the kernels that conflict, brings the contents to the host, and keeps kernels
/// from the buffer as long as it lives (their accessors throw memory_error).
template <class T, int Rank, access_mode Mode, class Exec = default_execution_space>
class host_accessor : public detail::elements<detail::accessed<T, Mode>, Rank> {
  using base = detail::elements<detail::accessed<T, Mode>, Rank>;

 public:
  host_accessor(const buffer<T, Rank, Exec>& b, mode_tag<Mode>)
      : base(b.shared()->host_access(Mode, true), b.get_range()), state_(b.shared()) {}
  host_accessor(const buffer<T, Rank, Exec>& b, mode_tag<Mode>, no_init_t)
      : base(b.shared()->host_access(Mode, false), b.get_range()), state_(b.shared()) {
    static_assert(Mode != access_mode::read,
                  "keramos: a read_only accessor needs the contents; drop no_init");
  }
  explicit host_accessor(const buffer<T, Rank, Exec>& b) requires(Mode == access_mode::read_write)
      : host_accessor(b, mode_tag<Mode>()) {}
  host_accessor(const host_accessor&) = delete;
  host_accessor& operator=(const host_accessor&) = delete;
  ~host_accessor() { state_->end_host_access(Mode); }

  auto begin() const { return this->data_; }
  auto end() const { return this->data_ + this->size(); }

 private:
  std::shared_ptr<detail::buffer_state<T, Rank, Exec>> state_;
};
template <class T, int Rank, class Exec>
host_accessor(const buffer<T, Rank, Exec>&) -> host_accessor<T, Rank, access_mode::read_write, Exec>;
template <class T, int Rank, class Exec, access_mode Mode, class... Property>
host_accessor(const buffer<T, Rank, Exec>&, mode_tag<Mode>, Property...)
    -> host_accessor<T, Rank, Mode, Exec>;

/// The command group of queue::submit: accessors made with it end with the operation that it launches.
template <class Exec = default_execution_space>
class handler {
 public:
  explicit handler(basic_queue<Exec>& q) : queue_(q) {}
  handler(const handler&) = delete;
  handler& operator=(const handler&) = delete;

  void depends_on(const typename basic_queue<Exec>::events& after) { queue_.depends_on(after); }

  // Each as the queue's of that name.
  template <class... A>
  void parallel_for(const A&... arguments) {
    event_ = queue_.parallel_for(arguments...);
  }
  template <class Group, class... A>
  void parallel_for_work_group(const A&... arguments) {
    event_ = queue_.template parallel_for_work_group<Group>(arguments...);
  }
  template <class... A>
  void single_task(const A&... arguments) {
    event_ = queue_.single_task(arguments...);
  }
  template <class F>
  void host_task(const std::string& label, F f) {
    event_ = queue_.host_task(label, std::move(f));
  }
  /// Copies the elements of one accessor to another of the same size.
  template <class From, class To>
  void copy(const From& from, const To& to) {
    if (from.size() != to.size())
      throw invalid_argument("keramos::handler::copy: the source has " + std::to_string(from.size()) +
                             " elements but the destination " + std::to_string(to.size()) +
                             "; give both the same size");
    event_ = queue_.copy(from.data(), to.data(), std::size_t(from.size()));
  }
  template <class To, class T>
  void fill(const To& to, const T& value) {
    event_ = queue_.fill(to.data(), value, std::size_t(to.size()));
  }

  // Internal.
  basic_queue<Exec>& queue() { return queue_; }
  template <class State>
  void uses(const std::shared_ptr<State>& state) {
    ends_.push_back([state, id = queue_.number()](const basic_event<Exec>& e) { state->ends(id, e); });
  }
  basic_event<Exec> finish() {
    const basic_event<Exec> e = event_ ? *event_ : queue_.completion();
    for (const auto& end : ends_) end(e);
    return e;
  }

 private:
  basic_queue<Exec>& queue_;
  std::optional<basic_event<Exec>> event_;
  std::vector<std::function<void(const basic_event<Exec>&)>> ends_;
};

/// A row-major View's memory as any mdspan type over it: `as_mdspan<std::mdspan<T, ...>>(buffer.view())`.
template <class MdSpan, class V, std::size_t... D>
MdSpan as_mdspan(const V& v, std::index_sequence<D...>) {
  return MdSpan(v.data(), v.extent(D)...);
}
template <class MdSpan, class V>
MdSpan as_mdspan(const V& v) {
  static_assert(std::is_same_v<typename V::array_layout, Kokkos::LayoutRight>,
                "keramos: an mdspan's default layout is row-major; pass a View of LayoutRight");
  return as_mdspan<MdSpan>(v, std::make_index_sequence<std::size_t(V::rank)>());
}

}  // namespace keramos
