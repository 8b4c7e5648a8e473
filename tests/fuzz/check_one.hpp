// A random case of elements of types A, B and C.
#pragma once

#include "check.hpp"
#include "product.hpp"
#include "scan.hpp"

namespace keramos::fuzz {

/// Makes cases until one's result is promised, and runs that; what is wrong with it.
template <class Make>
std::optional<std::string> run_one(const Make& make, const char* kind, unsigned long long seed) {
  auto c = make();
  while (!c.is_defined()) c = make();
  at_work = c.describe() + "\nRepeat with --cases 1 --seed " + std::to_string(seed) + "\n";
  ++done[kind];
  return c.run();
}

template <class A, class B = A, class C = A>
std::optional<std::string> check_one(std::mt19937_64& rng, unsigned long long seed,
                                     const arena (&memory)[3]) {
  using product = fuzz::product<A, B, C>;
  using form = typename product::form;
  const form forms[] = {form::one, form::strided, form::list, form::pointers};
  const auto make = [&](form f, bool close) {
    return [&, f, close] { return product(rng, f, close, memory); };
  };
  constexpr bool has_scans = std::is_arithmetic_v<A> && product::one_type && !test::is_quantized<C>;
  const index_t kind = draw(rng, has_scans ? 10 : product::one_type ? 9 : 6);
  if (kind < 4) return run_one(make(form::one, false), "products", seed);
  if (kind < 6) return run_one(make(forms[1 + draw(rng, 3)], false), "batches", seed);
  if constexpr (has_scans)
    if (kind == 9) return run_one([&] { return scan<A>(rng, memory); }, "scans", seed);
  return run_one(make(forms[draw(rng, 3)], true), "overlaps", seed);
}

}  // namespace keramos::fuzz
