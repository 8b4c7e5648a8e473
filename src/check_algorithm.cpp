#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <keramos/algorithm/check.hpp>
#include <keramos/gemm/check.hpp>

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

/// The plane of `a` along dimensions d and e, through its first element.
region plane(const array_argument& a, int d, int e) {
  return {a.name, a.data, a.element_bytes, a.extent[d], a.extent[e], a.stride[d], a.stride[e]};
}

/// Bytes [first, last) that `a` touches, and whether it fills them without gaps.
struct bytes {
  std::intptr_t first, last;
  bool dense;
};
bytes bytes_of(const array_argument& a) {
  std::intptr_t down = 0, up = 0, count = 1;
  for (int d = 0; d < a.rank; ++d) {
    const std::intptr_t reach = (a.extent[d] - 1) * a.stride[d];
    (reach < 0 ? down : up) += reach;
    count *= a.extent[d];
  }
  const auto size = std::intptr_t(a.element_bytes);
  const auto base = reinterpret_cast<std::intptr_t>(a.data);
  return {base + down * size, base + (up + 1) * size, up - down + 1 == count};
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
  if (out.empty()) return;
  bool twice = false;
  for (int d = 0; d < out.rank; ++d) {
    twice = twice || (out.extent[d] > 1 && out.stride[d] == 0);
    for (int e = d + 1; e < out.rank; ++e) twice = twice || writes_twice(plane(out, d, e));
  }
  if (twice)
    refuse(function, std::string(out.name) + " has strides " + joined(out.stride, out.rank) +
                         " with which its " + shape_of(out) +
                         " elements share memory; use strides that keep them apart");
}

void check_disjoint(const char* function, const array_argument& in, const array_argument& out) {
  if (in.empty() || out.empty()) return;
  bool shared = false;
  if (in.rank <= 2 && out.rank <= 2) {
    shared = overlaps(plane(in, 0, 1), plane(out, 0, 1));
  } else {
    const bytes a = bytes_of(in), b = bytes_of(out);
    shared = in.data == out.data || (a.dense && b.dense && a.first < b.last && b.first < a.last);
  }
  if (shared)
    refuse(function, std::string(out.name) + " (" + shape_of(out) + ") overlaps " + in.name + " (" +
                         shape_of(in) + ") in memory; pass a copy of " + in.name + " or another " + out.name);
}

}  // namespace keramos::detail
