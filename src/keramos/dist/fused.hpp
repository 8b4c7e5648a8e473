// keramos::dist::gemm with an epilogue of the caller's: what becomes of an element on its way to C happens in the kernel that
// writes C. That kernel is compiled here, in the source that calls; the products are the library's. dist.hpp does not include
// this header.
#pragma once

#include <string>
#include <type_traits>
#include <typeinfo>

#include <keramos/dist/gemm.hpp>
#include <keramos/gemm/fused.hpp>

namespace keramos::dist {

/// C(i, j) ← epilogue(Σ_k op(A)(i, k)·op(B)(k, j), C(i, j), i, j, 0) over the ranks of `comm`. Collective.
///
/// Matrices, options and errors are those of gemm with alpha and beta (gemm.hpp); these are part of the epilogue here, if they
/// are needed: epilogue::linear(alpha, beta). The epilogue is what keramos::gemm takes (gemm/fused.hpp): the library's own
/// (gemm/epilogue.hpp), which compose, or any callable that is an epilogue_for the type of sums. It is called where C lies, with
/// the row and column in the whole C. What it reads is this rank's own memory, counted by these: on each rank a vector as long as
/// C's rows or columns, say, of which the entries that belong to the rank's part of C are read. It must live until the call
/// returns. Ranks must pass epilogues of one type; what they hold is not compared. With k = 0 the sum is 0.
template <class TA, class TB, class TC, class Epilogue>
gemm_report gemm(communicator& comm, const matrix<TA>& a, const matrix<TB>& b, const matrix<TC>& c,
                 const Epilogue& epilogue, const gemm_options& options = {}) {
  using number = keramos::detail::epilogue_number_t<std::remove_const_t<TA>, std::remove_const_t<TB>, TC>;
  if constexpr (keramos::detail::is_linear<Epilogue>) {
    return gemm(comm, epilogue.alpha, a, b, epilogue.beta, c, options);
  } else if constexpr (keramos::detail::check_epilogue<Epilogue, number, communicator::execution_space>()) {
    const auto product = keramos::detail::dist_product_with(
        a, b, c, options, [&]<class Types>(keramos::detail::dist_product& p, Types) {
          p.takes_numbers = true;
          p.update = keramos::detail::dist_update_by<typename Types::accumulator, typename Types::c>(
              keramos::detail::kernel_epilogue<false, Types, TC>(epilogue));
          p.call += "epilogue: " + std::string(typeid(Epilogue).name()) + "\n";
        });
    return keramos::detail::dist_multiply(comm, product, options);
  } else {
    return gemm_report();
  }
}

}  // namespace keramos::dist
