// One call of an epilogue, as kernels make it.
#pragma once

#include <keramos/gemm/epilogue.hpp>

namespace keramos::test {

template <class E, class T>
T call(const E& e, T acc, T c = T(0), index_t i = 0, index_t j = 0, index_t batch = 0) {
  static_assert(detail::check_epilogue<E, T>());
  return detail::apply_epilogue(e, acc, c, i, j, batch);
}

}  // namespace keramos::test
