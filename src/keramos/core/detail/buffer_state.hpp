// What the copies of a buffer share: its memory on the device and on the host, which of them is valid, and
// who uses it. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/core/detail/instance.hpp>
#include <keramos/core/event.hpp>
#include <keramos/core/range.hpp>

namespace keramos {

/// SYCL's access modes. What a `write` access does not write keeps its value.
enum class access_mode { read, write, read_write };

namespace detail {

template <class T, int Rank>
struct view_data;
template <class T>
struct view_data<T, 1> {
  using type = T*;
};
template <class T>
struct view_data<T, 2> {
  using type = T**;
};
template <class T>
struct view_data<T, 3> {
  using type = T***;
};
/// A row-major View, as buffers hold them.
template <class T, int Rank, class Space>
using row_major_view = Kokkos::View<typename view_data<T, Rank>::type, Kokkos::LayoutRight, Space>;

template <class View, int Rank, class... Argument>
View make_view(const range<Rank>& r, const Argument&... argument) {
  if constexpr (Rank == 1)
    return View(argument..., std::size_t(r[0]));
  else if constexpr (Rank == 2)
    return View(argument..., std::size_t(r[0]), std::size_t(r[1]));
  else
    return View(argument..., std::size_t(r[0]), std::size_t(r[1]), std::size_t(r[2]));
}

template <class T, int Rank, class Exec>
class buffer_state {
 public:
  using device_view = row_major_view<T, Rank, typename Exec::memory_space>;
  using host_view = row_major_view<T, Rank, Kokkos::HostSpace>;
  /// The host can access the device's memory itself.
  static constexpr bool unified =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

  buffer_state(const range<Rank>& r, std::string label) : range_(r), label_(std::move(label)) {}
  buffer_state(const buffer_state&) = delete;
  buffer_state& operator=(const buffer_state&) = delete;
  ~buffer_state() {
    try {
      wait_for_all();
      if (write_back_) update_host();
      if (lies_elsewhere_) update_device();
    } catch (...) {  // a device that faulted; its queue's wait_and_throw tells
    }
  }

  const range<Rank>& extents() const { return range_; }
  const std::string& label() const { return label_; }
  void set_write_back(bool on) { write_back_ = on; }

  /// A View's memory: what others do with it, the buffer does not see.
  void use_memory(device_view v) {
    device_ = std::move(v), device_is_valid_ = true;
    lies_elsewhere_ = others_write_ = true;
  }
  void use_host_memory(T* data) {
    if constexpr (unified)
      device_ = make_view<device_view>(range_, data), device_is_valid_ = true;
    else
      host_ = make_view<host_view>(range_, data), host_is_valid_ = true;
  }

  /// Memory that later work of `exec`, the instance of queue `queue`, may access: all that it queues (`open`), or
  /// what it queues before ends().
  T* device_access(std::uint64_t queue, const Exec& exec, access_mode mode, bool keep, bool open) {
    const bool writes = mode != access_mode::read;
    if (host_writers_ > 0 || (writes && host_readers_ > 0))
      throw memory_error("keramos::accessor: buffer " + label_ +
                         " has a host_accessor alive; end its scope before kernels use the buffer");
    order(queue, exec, writes);
    if (device_.data() == nullptr && range_.size() > 0) {
      device_ = allocate<device_view>();
      if (!host_is_valid_) device_is_valid_ = true;  // nobody wrote it yet
    }
    if (!device_is_valid_ && keep) {
      backend::stream<Exec>::copy(exec, device_.data(), host_.data(), bytes());
      used(queue, exec, true, open);  // others must wait for the copy, if not for this access
    }
    device_is_valid_ = true;
    if (writes) host_is_valid_ = false;
    used(queue, exec, writes, open);
    return device_.data();
  }

  /// The accesses of `queue` so far end with `e`, but for those that are open.
  void ends(std::uint64_t queue, const basic_event<Exec>& e) {
    const auto end = [&](use& u) {
      if (u.queue == queue && !u.open && !u.end) u.end = e;
    };
    if (write_) end(*write_);
    for (use& u : reads_) end(u);
  }

  T* host_access(access_mode mode, bool keep) {
    const bool writes = mode != access_mode::read;
    if (host_writers_ > 0 || (writes && host_readers_ > 0))
      throw memory_error("keramos::host_accessor: buffer " + label_ +
                         " has another host_accessor alive that conflicts; end its scope first");
    if (writes)
      wait_for_all();
    else if (write_)
      write_->event().wait();
    if (keep) update_host();
    T* data = nullptr;
    if constexpr (unified) {
      allocate_unified();
      data = device_.data();
    } else {
      allocate_host();
      host_is_valid_ = true;
      if (writes) device_is_valid_ = false;
      data = host_.data();
    }
    (writes ? host_writers_ : host_readers_)++;
    return data;
  }
  void end_host_access(access_mode mode) { (mode != access_mode::read ? host_writers_ : host_readers_)--; }

  /// The device's memory as it is; kernels on it are the caller's to order.
  device_view view() {
    if (device_.data() == nullptr || !device_is_valid_) {
      const Exec exec;
      (void)device_access(0, exec, access_mode::read, true, false);
      fence(exec);
    }
    others_write_ = true;
    return device_;
  }

  void wait_for_all() {
    if (write_) write_->event().wait();
    for (const use& u : reads_) u.event().wait();
  }

 private:
  /// Work of a queue that uses the buffer; without an end, all that the queue holds when it is asked for.
  struct use {
    std::uint64_t queue;  // by number: a later queue can have the address of one that is gone
    Exec exec;
    bool open;  // an accessor of the queue, not of one command group, may be in use still
    std::optional<basic_event<Exec>> end;

    basic_event<Exec> event() const { return end ? *end : completion_of(exec); }
  };

  std::size_t bytes() const { return std::size_t(range_.size()) * sizeof(T); }

  void order(std::uint64_t queue, const Exec& exec, bool writes) {
    const auto after = [&](const use& u) {
      if (u.queue != queue) u.event().hold(exec);
    };
    if (write_) after(*write_);
    if (writes)
      for (const use& u : reads_) after(u);
  }
  void used(std::uint64_t queue, const Exec& exec, bool writes, bool open) {
    use* read = nullptr;
    for (use& u : reads_)
      if (u.queue == queue) read = &u;
    if (writes) {
      // What the queue may still do through earlier accessors, this use stands for as well.
      open = open || (read && read->open) || (write_ && write_->queue == queue && write_->open);
      reads_.clear();
      write_.emplace(use{queue, exec, open, {}});
    } else if (read) {
      read->open = read->open || open;
      read->end.reset();
    } else {
      reads_.push_back(use{queue, exec, open, {}});
    }
  }

  template <class View>
  View allocate() const {
    try {
      return make_view<View>(range_, Kokkos::view_alloc(Kokkos::WithoutInitializing, label_));
    } catch (const std::exception& e) {
      throw memory_error("keramos::buffer: " + label_ + ": " + std::to_string(bytes()) +
                         " bytes could not be allocated: " + e.what());
    }
  }
  void allocate_unified() {
    if (device_.data() == nullptr && range_.size() > 0)
      device_ = allocate<device_view>(), device_is_valid_ = true;
  }
  void allocate_host() {
    if (host_.data() == nullptr && range_.size() > 0) host_ = allocate<host_view>();
  }
  /// Brings the host's copy up to date, when the kernels that write are done.
  void update_host() {
    if constexpr (!unified) {
      if ((host_is_valid_ && !others_write_) || !device_is_valid_ || device_.data() == nullptr) return;
      allocate_host();
      const Exec exec = write_ ? write_->exec : Exec();
      backend::stream<Exec>::copy(exec, host_.data(), device_.data(), bytes());
      fence(exec);
      host_is_valid_ = true;
    }
  }
  /// Brings what the host wrote last to the device.
  void update_device() {
    if constexpr (!unified) {
      if (device_is_valid_ || !host_is_valid_ || device_.data() == nullptr) return;
      const Exec exec;
      backend::stream<Exec>::copy(exec, device_.data(), host_.data(), bytes());
      fence(exec);
    }
  }

  range<Rank> range_;
  std::string label_;
  device_view device_;
  host_view host_;
  bool device_is_valid_ = false, host_is_valid_ = false;
  bool lies_elsewhere_ = false;  // in a View that the buffer was made from
  bool others_write_ = false;    // a View of device_ is given out
  bool write_back_ = false;
  int host_readers_ = 0, host_writers_ = 0;
  std::optional<use> write_;  // the last one
  std::vector<use> reads_;    // since then, one a queue
};

}  // namespace detail
}  // namespace keramos
