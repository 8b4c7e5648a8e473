#include "reference_sums.hpp"

#include <algorithm>
#include <cstdint>

namespace keramos::test {

template <class Wide>
void multiply_widened(const Wide* x, const Wide* y, index_t m, index_t n, index_t k, Wide* sums) {
  constexpr index_t width = 4;  // sums that stay in registers, x87's too
  std::vector<Wide> panel(std::size_t(k * width));
  for (index_t j0 = 0; j0 < n; j0 += width) {
    const index_t cols = std::min(n - j0, width);
    for (index_t p = 0; p < k; ++p)
      for (index_t j = 0; j < width; ++j)
        panel[std::size_t(p * width + j)] = j < cols ? y[p * n + j0 + j] : Wide(0);
    for (index_t i = 0; i < m; ++i) {
      Wide sum[width] = {};
      for (index_t p = 0; p < k; ++p)
        for (index_t j = 0; j < width; ++j) sum[j] += x[i * k + p] * panel[std::size_t(p * width + j)];
      std::copy_n(sum, cols, sums + i * n + j0);
    }
  }
}

template void multiply_widened(const double*, const double*, index_t, index_t, index_t, double*);
template void multiply_widened(const long double*, const long double*, index_t, index_t, index_t,
                               long double*);
template void multiply_widened(const std::uint32_t*, const std::uint32_t*, index_t, index_t, index_t,
                               std::uint32_t*);
template void multiply_widened(const complex<double>*, const complex<double>*, index_t, index_t, index_t,
                               complex<double>*);
template void multiply_widened(const complex<long double>*, const complex<long double>*, index_t, index_t,
                               index_t, complex<long double>*);

}  // namespace keramos::test
