// expect in one error: an epilogue that reads C takes five arguments, \(acc, c, i, j, batch\)
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

struct without_batch {
  KERAMOS_FUNCTION float operator()(float acc, float c, keramos::index_t, keramos::index_t) const {
    return acc + c;
  }
};

constexpr bool checked = keramos::detail::check_epilogue<without_batch, float>();
