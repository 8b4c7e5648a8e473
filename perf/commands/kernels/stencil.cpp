// keramos::stencil, 5 points in two dimensions and 7 in three, beside a plain MDRange loop.
#include "arrays.hpp"

namespace keramos::perf {

template <class T, class V>
void stencil_by_keramos(const V& x, const V& y, const std::int64_t* n, int dimensions) {
  using cross_2 = keramos::halo<1, 1>;
  using cross_3 = keramos::halo<1, 1, 1>;
  if (dimensions == 2) {
    const grid_view<const T, 2> in{x.data(), {n[0], n[1]}, {n[1], 1}};
    const grid_view<T, 2> out{y.data(), {n[0], n[1]}, {n[1], 1}};
    keramos::stencil<cross_2>(
        machine_queue(), in, out,
        KERAMOS_LAMBDA(const keramos::neighborhood<T, cross_2>& u) {
          return 4 * u(0, 0) - u(-1, 0) - u(1, 0) - u(0, -1) - u(0, 1);
        },
        boundary::zero);
  } else {
    const grid_view<const T, 3> in{x.data(), {n[0], n[1], n[2]}, {n[1] * n[2], n[2], 1}};
    const grid_view<T, 3> out{y.data(), {n[0], n[1], n[2]}, {n[1] * n[2], n[2], 1}};
    keramos::stencil<cross_3>(
        machine_queue(), in, out,
        KERAMOS_LAMBDA(const keramos::neighborhood<T, cross_3>& u) {
          return 6 * u(0, 0, 0) - u(-1, 0, 0) - u(1, 0, 0) - u(0, -1, 0) - u(0, 1, 0) - u(0, 0, -1) -
                 u(0, 0, 1);
        },
        boundary::zero);
  }
}

template <class T, class V>
void stencil_by_kokkos(const V& x, const V& y, const std::int64_t* n, int dimensions) {
  using space = keramos::default_execution_space;
  const std::int64_t ni = n[0], nj = n[1], nk = n[2];
  if (dimensions == 2) {
    Kokkos::parallel_for(
        "kokkos_stencil_2d",
        Kokkos::MDRangePolicy<space, Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                              Kokkos::IndexType<std::int64_t>>(machine_queue().execution_space(), {0, 0},
                                                               {ni, nj}),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
          const std::int64_t at = i * nj + j;
          y(at) = 4 * x(at) - (i > 0 ? x(at - nj) : T(0)) - (i + 1 < ni ? x(at + nj) : T(0)) -
                  (j > 0 ? x(at - 1) : T(0)) - (j + 1 < nj ? x(at + 1) : T(0));
        });
  } else {
    Kokkos::parallel_for(
        "kokkos_stencil_3d",
        Kokkos::MDRangePolicy<space, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                              Kokkos::IndexType<std::int64_t>>(machine_queue().execution_space(), {0, 0, 0},
                                                               {ni, nj, nk}),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
          const std::int64_t row = nk, plane = nj * nk, at = i * plane + j * row + k;
          y(at) = 6 * x(at) - (i > 0 ? x(at - plane) : T(0)) - (i + 1 < ni ? x(at + plane) : T(0)) -
                  (j > 0 ? x(at - row) : T(0)) - (j + 1 < nj ? x(at + row) : T(0)) -
                  (k > 0 ? x(at - 1) : T(0)) - (k + 1 < nk ? x(at + 1) : T(0));
        });
  }
}

template <class T>
class stencil_family : public array_family<T> {
 public:
  stencil_family(int dimensions, std::int64_t side, std::uint64_t seed)
      : array_family<T>(dimensions == 2 ? side * side : side * side * side,
                        dimensions == 2 ? side * side : side * side * side, seed),
        dimensions_(dimensions),
        n_{side, side, dimensions == 2 ? 1 : side} {
    this->add("keramos", [this] { stencil_by_keramos<T>(this->x, this->y, n_, dimensions_); });
    this->add("kokkos", [this] { stencil_by_kokkos<T>(this->x, this->y, n_, dimensions_); });
  }
  std::string shape() const override {
    return dimensions_ == 2 ? this->joined({n_[0], n_[1]}) : this->joined({n_[0], n_[1], n_[2]});
  }

 protected:
  void refer(const std::vector<T>& in, std::vector<T>& out) const override {
    const std::int64_t step[] = {n_[1] * n_[2], n_[2], 1};
    parallel_blocks(n_[0], 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i)
        for (std::int64_t j = 0; j < n_[1]; ++j)
          for (std::int64_t k = 0; k < n_[2]; ++k) {
            const std::int64_t p[] = {i, j, k}, at = i * step[0] + j * step[1] + k;
            T sum = T(2 * dimensions_) * in[at];
            for (int d = 0; d < dimensions_; ++d) {
              if (p[d] > 0) sum -= in[at - step[d]];
              if (p[d] + 1 < n_[d]) sum -= in[at + step[d]];
            }
            out[at] = sum;
          }
    });
  }

 private:
  int dimensions_;
  std::int64_t n_[3];
};

template <class T>
std::unique_ptr<kernel_family> make_stencil_family(int dimensions, std::int64_t elements,
                                                   std::uint64_t seed) {
  const double side = dimensions == 2 ? std::sqrt(double(elements)) : std::cbrt(double(elements));
  return std::make_unique<stencil_family<T>>(dimensions, std::max<std::int64_t>(1, std::llround(side)), seed);
}
#define X(T) template std::unique_ptr<kernel_family> make_stencil_family<T>(int, std::int64_t, std::uint64_t);
KERAMOS_PERF_FOR_TYPES(X)
#undef X

}  // namespace keramos::perf
