// From numbers that are known when a product runs to the kernel that is compiled for them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <keramos/base/error.hpp>

namespace keramos::detail::simt {

/// What names a kernel of a family.
struct kernel_number {
  int row;     ///< of a table of tiles
  int access;  ///< how its operands are read: the number of an operand_access or the like
};

/// Calls `f` for the kernels of a family: those numbers below its `rows` and `accesses` for which `exists(row, access)`.
template <class Family, class F>
constexpr void for_each_kernel(const F& f) {
  for (int row = 0; row < Family::rows; ++row)
    for (int access = 0; access < Family::accesses; ++access)
      if (Family::exists(row, access)) f(kernel_number{row, access});
}
/// All of them, known when compiling.
template <class Family>
inline constexpr auto kernels_of = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for_each_kernel<Family>([&](kernel_number) { ++n; });
    return n;
  }();
  std::array<kernel_number, count> all{};
  std::size_t n = 0;
  for_each_kernel<Family>([&](kernel_number x) { all[n++] = x; });
  return all;
}();

/// Throws where a kernel was chosen that does not exist.
[[noreturn, gnu::cold]] inline void throw_no_kernel(int row, const char* table) {
  throw launch_error(
      "keramos::gemm: row " + std::to_string(row) + " of the " + table +
      " was chosen, but the library has no kernel of it for these operands. This is a mistake in "
      "Keramos; please report it");
}

/// Calls `launch(row, access)` with these two numbers as constants. It is compiled once for each kernel of the family, and for
/// nothing else; throws if they name none.
template <class Family, class Launch>
void with_kernel(int row, int access, const Launch& launch, const char* table = "tile table") {
  const auto launch_if_it_is = [&](auto known_row, auto known_access) {
    if (known_row() != row || known_access() != access) return false;
    launch(known_row, known_access);
    return true;
  };
  const bool launched = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (launch_if_it_is(std::integral_constant<int, kernels_of<Family>[I].row>(),
                            std::integral_constant<int, kernels_of<Family>[I].access>()) ||
            ...);
  }
  (std::make_index_sequence<kernels_of<Family>.size()>());
  if (!launched) throw_no_kernel(row, table);
}

}  // namespace keramos::detail::simt
