// expect in one error: returns one \(an integer for integers\)
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

struct halve {
  KERAMOS_FUNCTION float operator()(int acc, keramos::index_t, keramos::index_t, keramos::index_t) const {
    return 0.5f * float(acc);
  }
};

constexpr bool checked = keramos::detail::check_epilogue<halve, int>();
