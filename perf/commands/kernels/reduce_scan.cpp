// keramos::reduce and the scans beside Kokkos::parallel_reduce and parallel_scan.
#include "arrays.hpp"

namespace keramos::perf {

template <class T, class V>
void reduce_by_kokkos(const V& x, const V& y) {
  using space = keramos::default_execution_space;
  Kokkos::parallel_reduce(
      "kokkos_reduce",
      Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>(machine_queue().execution_space(), 0,
                                                                  std::int64_t(x.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, T & sum) { sum += x(i); }, Kokkos::subview(y, 0));
}
template <class T, class V>
void scan_by_kokkos(const V& x, const V& y, bool inclusive) {
  using space = keramos::default_execution_space;
  Kokkos::parallel_scan(
      "kokkos_scan",
      Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>(machine_queue().execution_space(), 0,
                                                                  std::int64_t(x.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, T & sum, bool last) {
        const T here = x(i);
        if (last && !inclusive) y(i) = sum;
        sum += here;
        if (last && inclusive) y(i) = sum;
      });
}

template <class T>
class reduce_family : public array_family<T> {
 public:
  reduce_family(std::int64_t n, std::uint64_t seed) : array_family<T>(n, 1, seed) {
    this->add("keramos", [this] { keramos::reduce(machine_queue(), this->x, this->y.data()); });
    this->add("kokkos", [this] { reduce_by_kokkos<T>(this->x, this->y); });
  }
  std::string shape() const override { return std::to_string(this->x.extent(0)); }

 protected:
  void refer(const std::vector<T>& in, std::vector<T>& out) const override {
    std::int64_t sum = 0;
    for (const T v : in) sum += std::int64_t(v);
    out[0] = T(sum);
  }
};

template <class T>
class scan_family : public array_family<T> {
 public:
  scan_family(bool inclusive, std::int64_t n, std::uint64_t seed)
      : array_family<T>(n, n, seed), inclusive_(inclusive) {
    this->add("keramos", [this] {
      if (inclusive_)
        keramos::inclusive_scan(machine_queue(), this->x, out());
      else
        keramos::exclusive_scan(machine_queue(), this->x, out(), T(0));
    });
    this->add("kokkos", [this] { scan_by_kokkos<T>(this->x, this->y, inclusive_); });
  }
  std::string shape() const override { return std::to_string(this->x.extent(0)); }

 protected:
  void refer(const std::vector<T>& in, std::vector<T>& out) const override {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto before = sum;
      sum += std::int64_t(in[i]);
      out[i] = T(inclusive_ ? sum : before);
    }
  }

 private:
  auto out() const { return this->y; }
  bool inclusive_;
};

template <class T>
std::unique_ptr<kernel_family> make_reduce_family(std::int64_t elements, std::uint64_t seed) {
  return std::make_unique<reduce_family<T>>(elements, seed);
}
template <class T>
std::unique_ptr<kernel_family> make_scan_family(bool inclusive, std::int64_t elements, std::uint64_t seed) {
  return std::make_unique<scan_family<T>>(inclusive, elements, seed);
}
#define X(T)                                                                                  \
  template std::unique_ptr<kernel_family> make_reduce_family<T>(std::int64_t, std::uint64_t); \
  template std::unique_ptr<kernel_family> make_scan_family<T>(bool, std::int64_t, std::uint64_t);
KERAMOS_PERF_FOR_TYPES(X)
#undef X

}  // namespace keramos::perf
