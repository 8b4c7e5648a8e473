#include <algorithm>
#include <string>

#include <keramos/algorithm/check.hpp>
#include <keramos/view/overlap.hpp>

namespace keramos::detail {
namespace {

[[noreturn]] void refuse(const char* function, const std::string& what) {
  throw invalid_argument(std::string("keramos::") + function + ": " + what);
}

std::string joined(const index_t* value, int count) {
  std::string text;
  for (int d = 0; d < count; ++d) {
    if (d > 0) text += 'x';
    text += std::to_string(value[d]);
  }
  return text;
}

strided_array strided(const array_argument& a) {
  strided_array s{a.data, a.element_bytes};
  std::copy_n(a.extent, a.rank, s.extent);
  std::copy_n(a.stride, a.rank, s.stride);
  return s;
}

}  // namespace

std::string shape_of(const array_argument& a) { return joined(a.extent, a.rank); }

void check_array(const char* function, const array_argument& a) {
  for (int d = 0; d < a.rank; ++d)
    if (a.extent[d] < 0)
      refuse(function, std::string(a.name) + " is " + shape_of(a) +
                           " but extents must not be negative; check how its view was made");
  if (!a.empty() && a.data == nullptr)
    refuse(function, std::string(a.name) + " is " + shape_of(a) +
                         " but its data is null; allocate it or pass extents of 0");
}

void check_extents(const char* function, const array_argument& a, const index_t* wanted, const char* why) {
  if (!std::equal(wanted, wanted + a.rank, a.extent))
    refuse(function, std::string(a.name) + " is " + shape_of(a) + " but must be " + joined(wanted, a.rank) +
                         " (" + why + "); fix " + a.name + "'s extents");
}

void check_output(const char* function, const array_argument& out) {
  check_array(function, out);
  if (shares_elements(strided(out)))
    refuse(function, std::string(out.name) + " has strides " + joined(out.stride, out.rank) +
                         " with which its " + shape_of(out) +
                         " elements share memory; use strides that keep them apart");
}

void check_disjoint(const char* function, const array_argument& in, const array_argument& out) {
  if (share_memory(strided(in), strided(out)))
    refuse(function, std::string(out.name) + " (" + shape_of(out) + ") overlaps " + in.name + " (" +
                         shape_of(in) + ") in memory; pass a copy of " + in.name + " or another " + out.name);
}

}  // namespace keramos::detail
