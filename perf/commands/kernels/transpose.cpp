// keramos::transpose beside the two loops that anybody would write.
#include "arrays.hpp"

namespace keramos::perf {

// Free functions: nvcc takes no lambda of a kernel from a member that is not public.
template <class T, class V>
void transpose_by_kokkos(const V& x, const V& y, std::int64_t m, std::int64_t n) {
  using space = keramos::default_execution_space;
  Kokkos::parallel_for(
      "kokkos_transpose",
      Kokkos::MDRangePolicy<space, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>(
          machine_queue().execution_space(), {0, 0}, {m, n}),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { y(j * m + i) = x(i * n + j); });
}

template <class T>
class transpose_family : public array_family<T> {
 public:
  transpose_family(std::int64_t m, std::int64_t n, std::uint64_t seed)
      : array_family<T>(m * n, m * n, seed), m_(m), n_(n) {
    this->add("keramos", [this] {
      keramos::transpose(machine_queue(), matrix_view<const T>::row_major(this->x.data(), m_, n_),
                         matrix_view<T>::row_major(this->y.data(), n_, m_));
    });
    this->add("kokkos", [this] { transpose_by_kokkos<T>(this->x, this->y, m_, n_); });
  }
  std::string shape() const override { return this->joined({m_, n_}); }

 protected:
  void refer(const std::vector<T>& in, std::vector<T>& out) const override {
    parallel_blocks(n_, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < m_; ++i)
        for (auto j = begin; j < end; ++j) out[j * m_ + i] = in[i * n_ + j];
    });
  }

 private:
  std::int64_t m_, n_;
};

template <class T>
std::unique_ptr<kernel_family> make_transpose_family(std::int64_t elements, std::uint64_t seed) {
  const auto side = std::max<std::int64_t>(1, std::llround(std::sqrt(double(elements))));
  return std::make_unique<transpose_family<T>>(side, side, seed);
}
#define X(T) template std::unique_ptr<kernel_family> make_transpose_family<T>(std::int64_t, std::uint64_t);
KERAMOS_PERF_FOR_TYPES(X)
#undef X

}  // namespace keramos::perf
