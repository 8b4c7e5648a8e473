#include <algorithm>

#include <keramos/algorithm/transpose.hpp>
#include <keramos/dist/elements.hpp>

namespace keramos::detail {
namespace {

/// Whether elements of a column are neighbours in memory, and those of a row are not.
bool lies_by_columns(const dist_rectangle& x) {
  return x.row_stride == 1 && x.col_stride != 1 && !x.rows && !x.cols;
}

/// Rows and columns from which on tiles of a transposed copy have enough to do.
constexpr index_t least_to_turn = 16;

/// Where elements of a column are neighbours on both sides: so many of them, 16 bytes at most, are aligned together in each column.
/// 1: none are.
index_t side_by_side(const dist_rectangle& from, const dist_rectangle& to, index_t bytes) {
  if (from.row_stride != 1 || to.row_stride != 1 || from.rows || to.rows) return 1;
  index_t unit = 16;
  for (const dist_rectangle* x : {&from, &to}) {
    while (reinterpret_cast<std::uintptr_t>(x->data) % std::uintptr_t(unit)) unit /= 2;
    while (x->col_count > 1 && x->col_stride * bytes % unit) unit /= 2;
  }
  return std::max<index_t>(1, unit / bytes);
}
/// Rows begin ... end - 1, `together` of them as one element.
dist_rectangle rows_of(dist_rectangle x, index_t begin, index_t end, index_t together, index_t bytes) {
  x.data = static_cast<char*>(x.data) + begin * bytes;
  x.row_count = (end - begin) / together, x.col_stride /= together;
  return x;
}

template <class T, bool Conjugate>
dist_transfer copy_of() {
  return [](dist::communicator::queue_type& q, dist_rectangle from, dist_rectangle to) {
    if constexpr (!Conjugate) {
      if (lies_by_columns(from)) from = from.transposed(), to = to.transposed();
      if (lies_by_columns(from.transposed()) && lies_by_columns(to) &&
          std::min(to.row_count, to.col_count) >= least_to_turn) {
        launch_transpose<true>(q,
                               matrix_view<const T>{static_cast<const T*>(from.data), from.row_count,
                                                    from.col_count, from.row_stride, from.col_stride},
                               matrix_view<T>{static_cast<T*>(to.data), to.row_count, to.col_count,
                                              to.row_stride, to.col_stride});
        return;
      }
      constexpr index_t bytes = sizeof(T);
      if (from.col_stride == 1 && to.col_stride == 1) from = from.transposed(), to = to.transposed();
      const index_t together = side_by_side(from, to, bytes), rest = to.row_count % together;
      if (together > 1 && to.row_count > rest) {
        const index_t end = to.row_count - rest;
        dist_copy(int(together * bytes))(q, rows_of(from, 0, end, together, bytes),
                                         rows_of(to, 0, end, together, bytes));
        from = rows_of(from, end, end + rest, 1, bytes), to = rows_of(to, end, end + rest, 1, bytes);
      }
    }
    dist_for_each_element(
        q, "keramos::dist::copy", from, to,
        dist_copy_element<T, Conjugate>{static_cast<const T*>(from.data), static_cast<T*>(to.data)});
  };
}

}  // namespace

dist_transfer dist_copy(int bytes, bool conjugate) {
  if (conjugate) return bytes == 8 ? copy_of<complex<float>, true>() : copy_of<complex<double>, true>();
  switch (bytes) {
    case 1:
      return copy_of<dist_bytes<1>, false>();
    case 2:
      return copy_of<dist_bytes<2>, false>();
    case 4:
      return copy_of<dist_bytes<4>, false>();
    case 8:
      return copy_of<dist_bytes<8>, false>();
    default:
      return copy_of<dist_bytes<16>, false>();
  }
}

void dist_spread(dist::communicator::queue_type& q, char* to, const char* from,
                 const std::vector<dist_stretch>& stretches, std::size_t least) {
  for (std::size_t i = 0, j; i < stretches.size(); i = j) {
    const auto [first, bytes] = stretches[i];
    const index_t apart = i + 1 < stretches.size() ? stretches[i + 1].to - first : 0;
    for (j = i + 1; j < stretches.size() && stretches[j].bytes == bytes &&
                    stretches[j].to - stretches[j - 1].to == apart;)
      ++j;
    if (j - i < least) {
      q.memcpy(to + first, from, std::size_t(bytes));
      from += bytes, j = i + 1;
      continue;
    }
    const index_t count = index_t(j - i);
    dist_copy(1)(q, {const_cast<char*>(from), 1, bytes, nullptr, nullptr, bytes, count},
                 {to + first, 1, apart, nullptr, nullptr, bytes, count});
    from += bytes * count;
  }
}

}  // namespace keramos::detail
