// A product of f32 or f64 by way of integers of eight bits, from exponents to C.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/kernel/residues/accuracy.hpp>
#include <keramos/gemm/kernel/residues/combine.hpp>
#include <keramos/gemm/kernel/residues/moduli.hpp>
#include <keramos/gemm/kernel/residues/products.hpp>
#include <keramos/gemm/kernel/residues/split.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::residues {

/// The most moduli that a product of Types is tried with.
template <class Types>
inline constexpr int moduli_tried = sizeof(typename Types::a) == 8 ? most_moduli : 12;

/// Memory that a product in bands needs, in its order.
template <class Types>
class memory_map {
 public:
  memory_map(const gemm_problem<Types>& p, const gemm_part& part)
      : a_(layout::of(std::min(part.band_m, p.m), p.k)),
        b_(layout::of(std::min(part.band_n, p.n), p.k)),
        product_{a_.rows, b_.rows} {
    constexpr int count = moduli_tried<Types>;
    const auto after = [&](std::size_t bytes) {
      const std::size_t at = bytes_;
      bytes_ += (bytes + 127) / 128 * 128;
      return at;
    };
    choice_ = after(sizeof(residues::choice) + sizeof(int));
    exponents_ = after(sizeof(int) * std::size_t(p.m + p.n));
    squares_ = after(sizeof(float) * samples * std::size_t(p.m + p.n));
    sums_ = after(sizeof(float) * std::size_t(p.m + p.n));
    of_a_ = after(a_.bytes(count));
    of_b_ = after(b_.bytes(count));
    of_product_ = after(product_.bytes(count));
  }

  std::size_t bytes() const { return bytes_; }
  const layout& a() const { return a_; }
  const layout& b() const { return b_; }
  const product_layout& product() const { return product_; }

  residues::choice* choice(char* at) const { return reinterpret_cast<residues::choice*>(at + choice_); }
  int* need(char* at) const { return reinterpret_cast<int*>(at + choice_ + sizeof(residues::choice)); }
  int* exponents(char* at) const { return reinterpret_cast<int*>(at + exponents_); }
  float* squares(char* at) const { return reinterpret_cast<float*>(at + squares_); }
  float* sums(char* at) const { return reinterpret_cast<float*>(at + sums_); }
  char* of_a(char* at) const { return at + of_a_; }
  char* of_b(char* at) const { return at + of_b_; }
  char* of_product(char* at) const { return at + of_product_; }

 private:
  layout a_, b_;
  product_layout product_;
  std::size_t bytes_ = 0, choice_, exponents_, squares_, sums_, of_a_, of_b_, of_product_;
};

struct start_kernel {
  int *exponents, *need;
  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<1> i) const {
    exponents[i] = no_exponent;
    if (i == 0) *need = 0;
  }
};

/// Chooses moduli for the bits that are needed.
template <class Exec, class Types>
void make_choice(const Exec& exec, const gemm_problem<Types>& p, const memory_map<Types>& map, char* memory) {
  range_for("keramos::gemm_accuracy", exec, range{index_t(most_moduli)},
            choice_kernel{map.need(memory), p.k, moduli_tried<Types>, map.choice(memory)});
}

/// Finds out how many moduli the product of all rows and columns needs.
template <class Exec, class Types>
void choose_moduli(const Exec& exec, const gemm_problem<Types>& p, const memory_map<Types>& map,
                   char* memory) {
  using A = typename Types::a;
  using exponents = exponents_kernel<A, Exec>;
  using accuracy = accuracy_kernel<Exec>;
  const char* const label = "keramos::gemm_accuracy";
  int *const of_a = map.exponents(memory), *const of_b = of_a + p.m, *const need = map.need(memory);
  float *const squares = map.squares(memory), *const sums = map.sums(memory);
  range_for(label, exec, range{p.m + p.n}, start_kernel{of_a, need});
  const auto look_at = [&](const tiling::operand<A>& x, index_t extent, int* to, float* squares,
                           float* sums) {
    launch_groups<typename exponents::group>(
        label, exec, range{ceil_div(extent, exponents::rows), ceil_div(p.k, exponents::columns)},
        exponents{x, extent, p.k, to});
    range_for(label, exec, range{extent}, samples_kernel<A>{x, extent, p.k, to, squares, sums});
  };
  look_at(p.a, p.m, of_a, squares, sums);
  look_at(p.b, p.n, of_b, squares + samples * p.m, sums + p.m);
  constexpr int precision = std::numeric_limits<typename Types::accumulator>::digits;
  launch_groups<typename accuracy::group>(
      label, exec, range{ceil_div(p.m, accuracy::tile), ceil_div(p.n, accuracy::tile)},
      accuracy{p.m, p.n, p.k, of_a, of_b, squares, squares + samples * p.m, sums, sums + p.m, precision,
               need});
  make_choice(exec, p, map, memory);
}

/// Does a product in bands of C as planned, with the moduli that were chosen for it. `multiply(diagonal product, layout, choice)`
/// forms the products of remainders; `fallback(problem, choice)` does the product if no moduli are chosen, which only the
/// device knows.
template <class Exec, class Types, class Epilogue, class Multiply, class Fallback>
void multiply_chosen(const Exec& exec, const gemm_problem<Types>& p, const gemm_part& part,
                     const Epilogue& epilogue, const memory_map<Types>& map, char* at,
                     const Multiply& multiply, const Fallback& fallback) {
  using A = typename Types::a;
  using split = split_kernel<A, Exec>;
  using combine = combine_kernel<Types, Epilogue, Exec>;
  const residues::choice* const choice = map.choice(at);
  const int *const exponents_a = map.exponents(at), *const exponents_b = exponents_a + p.m;
  const auto split_operand = [&](const tiling::operand<A>& x, index_t extent, const int* exponents, char* to,
                                 const layout& where) {
    launch_groups<typename split::group>(
        "keramos::gemm_split", exec, range{where.rows / split::rows, where.pitch / split::columns},
        split{x, extent, p.k, exponents, choice, reinterpret_cast<std::uint64_t*>(to), where,
              moduli_tried<Types>});
  };
  const auto bytes_of = [](char* x) { return reinterpret_cast<integer8*>(x); };
  for (index_t m0 = 0; m0 < p.m; m0 += part.band_m)
    for (index_t n0 = 0; n0 < p.n; n0 += part.band_n) {
      const gemm_problem<Types> band =
          p.part(m0, n0, std::min(part.band_m, p.m - m0), std::min(part.band_n, p.n - n0));
      if (n0 == 0) split_operand(band.a, band.m, exponents_a + m0, map.of_a(at), map.a());
      if (m0 == 0 || part.band_n < p.n)
        split_operand(band.b, band.n, exponents_b + n0, map.of_b(at), map.b());
      multiply(diagonal_product(bytes_of(map.of_a(at)), bytes_of(map.of_b(at)), bytes_of(map.of_product(at)),
                                map.product(), map.a().pitch, moduli_tried<Types>),
               map.product(), choice);
      launch_groups<typename combine::group>(
          "keramos::gemm_combine", exec,
          range{ceil_div(band.m, combine::rows), ceil_div(band.n, combine::columns)},
          combine{band, epilogue, reinterpret_cast<const std::uint32_t*>(map.of_product(at)), map.product(),
                  exponents_a + m0, exponents_b + n0, choice});
    }
  fallback(p, choice);
}

}  // namespace keramos::detail::residues
