// Distributed matrices without their type, and what is wrong with them.
#pragma once

#include <string>
#include <vector>

#include <keramos/dist/elements.hpp>
#include <keramos/dist/layout.hpp>
#include <keramos/dist/matrix.hpp>
#include <keramos/gemm/check.hpp>

namespace keramos::detail {

/// A distributed matrix without its type.
struct dist_operand {
  const char* name = "";
  dist::layout layout;
  std::vector<region> parts;

  dist_operand transposed() const;
};
template <class T>
dist_operand dist_operand_of(const char* name, const dist::matrix<T>& m) {
  dist_operand o{name, m.layout(), {}};
  for (const auto& part : m.parts()) o.parts.push_back(region_of(name, part));
  return o;
}

/// @throws invalid_argument if the layout is for more ranks than there are.
KERAMOS_EXPORT void dist_check_ranks(const std::string& caller, const dist_operand& x, int ranks);
/// @throws the same; and unless this rank's parts are as the layout says, and their elements apart if they are written.
KERAMOS_EXPORT void dist_check(const std::string& caller, const dist_operand& x, int rank, int ranks,
                               bool is_written);

}  // namespace keramos::detail
