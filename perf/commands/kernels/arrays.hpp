// What the families share: their arrays on the device, the copy that they are measured against, and the
// comparison with the reference. Includes Kokkos.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <keramos/keramos.hpp>

#include "family.hpp"
#include "measure/core/parallel.hpp"
#include "measure/core/random.hpp"
#include "measure/device/machine_queue.hpp"

namespace keramos::perf {

template <class T>
class array_family : public kernel_family {
 public:
  using space = keramos::default_execution_space;
  using view = Kokkos::View<T*, space>;

  array_family(std::int64_t in, std::int64_t out, std::uint64_t seed)
      : x_(in),
        x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "x"), in),
        y(Kokkos::view_alloc(Kokkos::WithoutInitializing, "y"), std::max(in, out)),
        outputs_(out) {
    const random_stream random(seed, 1);
    parallel_blocks(in, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) x_[i] = T(std::int64_t(random.bits(i) % 17) - 8);
    });
    Kokkos::deep_copy(x, on_host(x_.data(), in));
  }

  double bytes() const override { return double(sizeof(T)) * double(x_.size() + outputs_); }
  double bytes_of(const std::string& provider) const override {
    return provider == "copy" ? 2.0 * sizeof(T) * double(x_.size()) : bytes();
  }
  std::vector<std::string> providers() const override {
    std::vector<std::string> names{"keramos"};
    for (const auto& [name, f] : runs_)
      if (name != "keramos") names.push_back(name);
    names.push_back("copy");
    return names;
  }
  double run(const std::string& provider, std::int64_t calls) override {
    return seconds_on_queue([&] {
      for (std::int64_t c = 0; c < calls; ++c) enqueue(provider);
    });
  }

  std::string verify(const std::string& provider) override {
    Kokkos::deep_copy(y, T(99));
    enqueue(provider);
    machine_queue().wait();
    std::vector<T> got(provider == "copy" ? x_.size() : outputs_);
    Kokkos::deep_copy(on_host(got.data(), got.size()),
                      Kokkos::subview(y, std::pair<std::size_t, std::size_t>(0, got.size())));
    if (provider != "copy" && reference_.empty()) {
      reference_.resize(outputs_);
      refer(x_, reference_);
    }
    const std::vector<T>& expected = provider == "copy" ? x_ : reference_;
    const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
    if (wrong.first == got.end()) return {};
    const auto number = [](T v) { return std::to_string(v); };
    return "element " + std::to_string(wrong.first - got.begin()) + " is " + number(*wrong.first) +
           " instead of " + number(*wrong.second);
  }

 protected:
  // What the result must be.
  virtual void refer(const std::vector<T>& in, std::vector<T>& out) const = 0;
  // To be called by the constructors of families: what `provider` queues.
  void add(const std::string& provider, std::function<void()> f) { runs_[provider] = std::move(f); }

  // nvcc reads no fmt here.
  static std::string joined(std::initializer_list<std::int64_t> extents) {
    std::string text;
    for (const auto e : extents) {
      if (!text.empty()) text += 'x';
      text += std::to_string(e);
    }
    return text;
  }

  template <class V>
  static auto on_host(V* data, std::size_t n) {
    return Kokkos::View<V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(data, n);
  }

 private:
  void enqueue(const std::string& provider) {
    if (provider == "copy")
      Kokkos::deep_copy(machine_queue().execution_space(),
                        Kokkos::subview(y, std::pair<std::size_t, std::size_t>(0, x_.size())), x);
    else
      runs_.at(provider)();
  }

  std::vector<T> x_;

 protected:
  view x, y;  // on the device; the result's elements come first in y

 private:
  std::int64_t outputs_;
  std::map<std::string, std::function<void()>> runs_;
  std::vector<T> reference_;
};

}  // namespace keramos::perf

#define KERAMOS_PERF_FOR_TYPES(X) X(float) X(double) X(std::int32_t)
