// keramos::dist::gemm: C ← alpha·op(A)·op(B) + beta·C of matrices that lie on several ranks.
// `dist::gemm(comm, 1.0, A, B, 0.0, C, {.op_b = keramos::op::T});`
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/elements.hpp>
#include <keramos/dist/matrix.hpp>
#include <keramos/dist/operand.hpp>
#include <keramos/dist/schedule.hpp>
#include <keramos/dist/timeline.hpp>
#include <keramos/gemm/gemm.hpp>

namespace keramos::dist {

struct gemm_options {
  op op_a = op::N;
  op op_b = op::N;
  /// Bytes that a rank may allocate beside the operands: copies of its share of them, panels, sums and messages. Not
  /// counted is what keramos::gemm packs on its queue, lists of a part's rows and columns, which the communicator remembers,
  /// the numbers of C's rows and columns for an epilogue, and the host's memory for messages of devices. A message has one
  /// element at least, whether there is room or not.
  index_t memory = unlimited_memory;
  /// The schedule to follow instead of choosing one.
  std::optional<dist::schedule> schedule = std::nullopt;
  /// The arithmetic of local products: see keramos::gemm.
  gemm_compute compute = gemm_compute::standard;
  /// Where this rank's intervals go, in the order in which they began; what is there before is lost. All ranks must have one,
  /// or none, which costs nothing. With it the call begins with a barrier, for which work in the communicator's queues ends.
  /// Empty after a call that throws, or multiplies nothing. SYCL's events have times only where queues have profiling enabled.
  std::vector<interval>* timeline = nullptr;
};

/// What a product took on this rank.
struct gemm_report {
  dist::schedule schedule;
  index_t redistributed_bytes =
      0;                    ///< received from others to bring A, B and the result where they are needed
  index_t panel_bytes = 0;  ///< received of A and B while multiplying
  index_t sum_bytes = 0;    ///< received of partial sums
  index_t memory = 0;       ///< the most that was allocated at a time
};

}  // namespace keramos::dist

namespace keramos::detail {

/// A product without its types.
struct dist_product {
  dist_operand a, b, c;  // op(A), op(B): transposed by now
  dist::element_bytes bytes;
  std::string call;  // what all ranks must pass alike
  dist::failure why = dist::failure::none;
  std::string message;
  bool needs_no_terms = false, keeps_c = false;
  bool takes_numbers = false;  // whether the update is told rows and columns of C
  bool c_is_of_sums = false;   // by its type
  dist_transfer copy_a, copy_b, update;
  bool plain_a = true, plain_b = true;  // not conjugated
  /// C (m x n) ← A (m x k, by columns) · B (k x n, by rows), or += .
  std::function<void(dist::communicator::queue_type&, const matrix_view<char>& a, const matrix_view<char>& b,
                     const matrix_view<char>& c, bool adds)>
      multiply;
  /// The same into C's own elements, with alpha, and with beta unless it adds.
  std::function<void(dist::communicator::queue_type&, const matrix_view<char>& a, const matrix_view<char>& b,
                     const matrix_view<char>& c, bool adds)>
      multiply_into_c;
  /// own[i] ← the sum of `count` parts in their order. Part `mine` is own, the others stand one behind the other.
  std::function<void(dist::communicator::queue_type&, void* own, const void* others, int mine, int count,
                     index_t size)>
      add;
};
/// Bytes in hexadecimal.
KERAMOS_EXPORT std::string dist_bytes_text(const void* data, std::size_t bytes);

KERAMOS_EXPORT dist::gemm_report dist_multiply(dist::communicator& comm, const dist_product& p,
                                               const dist::gemm_options& options);
KERAMOS_EXPORT dist::schedule dist_schedule(const dist_product& p, int ranks,
                                            const dist::gemm_options& options);
KERAMOS_EXPORT std::string dist_explain(const dist_product& p, int ranks, const dist::gemm_options& options);

/// What an H200 reads and writes of its memory, 4 TB/s, while it receives a byte over NVLink, 0.34 TB/s. On hosts steps are as
/// short as they may be.
inline constexpr double dist_memory_per_link =
    backend::traits<dist::communicator::execution_space>::is_host ? 0 : 12;

template <class Sum>
struct dist_add {
  Sum* own;
  const Sum* others;
  int mine, count;
  index_t size;

  KERAMOS_FUNCTION Sum part(int p, index_t i) const {
    return p == mine ? own[i] : others[(p < mine ? p : p - 1) * size + i];
  }
  KERAMOS_FUNCTION void operator()(index_t i) const {
    Sum s = part(0, i);
    for (int p = 1; p < count; ++p) s = s + part(p, i);
    own[i] = s;
  }
};

template <class T>
matrix_view<T> dist_typed(const matrix_view<char>& m) {
  return {reinterpret_cast<T*>(m.data), m.rows, m.cols, m.row_stride, m.col_stride};
}

/// `set_update(p, types)` gives p what happens to sums on their way to C.
template <class TA, class TB, class TC, class SetUpdate>
dist_product dist_product_with(const dist::matrix<TA>& a, const dist::matrix<TB>& b,
                               const dist::matrix<TC>& c, const dist::gemm_options& options,
                               const SetUpdate& set_update) {
  using A = std::remove_const_t<TA>;
  using B = std::remove_const_t<TB>;
  static_assert(!std::is_const_v<TC>, "keramos::dist::gemm: C is written, so its elements must not be const");
  dist_product p;
  if constexpr (is_known_product<A, B, TC>()) {
    using types = types_of<A, B, TC>;
    using kernel_sum = typename types::accumulator;
    using sum = typename with_sign<kernel_sum>::type;
    // Sums of steps and of ranks are kept in the type of sums, and rounded to C's once.
    if constexpr (is_known_product<A, B, sum>()) {
      p.a = dist_operand_of("A", a);
      if (options.op_a != op::N) p.a = p.a.transposed();
      p.b = dist_operand_of("B", b);
      if (options.op_b != op::N) p.b = p.b.transposed();
      p.c = dist_operand_of("C", c);
      p.bytes = {int(sizeof(A)), int(sizeof(B)), int(sizeof(sum))};
      p.plain_a = !dist_conjugates<A>(options.op_a == op::C);
      p.plain_b = !dist_conjugates<B>(options.op_b == op::C);
      p.copy_a = dist_copy(int(sizeof(A)), !p.plain_a);
      p.copy_b = dist_copy(int(sizeof(B)), !p.plain_b);
      p.call = std::string("elements of A: ") + dist_element_name<A>() +
               "\nelements of B: " + dist_element_name<B>() + "\nelements of C: " + dist_element_name<TC>() +
               "\ncompute: " + to_string(options.compute) + "\n";
      try {
        set_update(p, types());
        check_compute<dist::communicator::execution_space, types>(options.compute);
      } catch (const invalid_argument& e) {
        p.why = dist::failure::argument, p.message = e.what();
      }
      p.multiply = [compute = options.compute](
                       dist::communicator::queue_type& q, const matrix_view<char>& a_panel,
                       const matrix_view<char>& b_panel, const matrix_view<char>& sums, bool adds) {
        keramos::gemm_options local;
        local.compute = compute;
        keramos::gemm(q, 1, dist_typed<const A>(a_panel), dist_typed<const B>(b_panel), adds ? 1 : 0,
                      dist_typed<sum>(sums), local);
      };
      p.c_is_of_sums = std::is_same_v<TC, sum>;
      p.add = [](dist::communicator::queue_type& q, void* own, const void* others, int mine, int count,
                 index_t size) {
        q.parallel_for("keramos::dist::add", range{size},
                       dist_add<kernel_sum>{static_cast<kernel_sum*>(own),
                                            static_cast<const kernel_sum*>(others), mine, count, size});
      };
    }
  }
  return p;
}

template <class TA, class TB, class TC, class Alpha, class Beta>
dist_product dist_product_of(const dist::matrix<TA>& a, const dist::matrix<TB>& b, const dist::matrix<TC>& c,
                             Alpha alpha, Beta beta, const dist::gemm_options& options) {
  return dist_product_with(a, b, c, options, [&]<class Types>(dist_product& p, Types) {
    const auto epilogue = update_of<Types, TC>(alpha, beta);
    p.needs_no_terms = needs_no_terms(epilogue);
    p.keeps_c = keeps_c_without_terms(epilogue);
    p.update = dist_update<typename Types::accumulator, typename Types::c>(epilogue);
    const auto& scalars = linear_part(epilogue);
    p.call += "alpha and beta: " + dist_bytes_text(&scalars, sizeof(scalars)) + "\n";
    p.multiply_into_c = [compute = options.compute, alpha, beta](
                            dist::communicator::queue_type& q, const matrix_view<char>& a_panel,
                            const matrix_view<char>& b_panel, const matrix_view<char>& own_c, bool adds) {
      keramos::gemm_options local;
      local.compute = compute;
      const auto multiply = [&](auto scale_of_c) {
        keramos::gemm(q, alpha, dist_typed<const std::remove_const_t<TA>>(a_panel),
                      dist_typed<const std::remove_const_t<TB>>(b_panel), scale_of_c, dist_typed<TC>(own_c),
                      local);
      };
      adds ? multiply(1) : multiply(beta);
    };
  });
}

}  // namespace keramos::detail

namespace keramos::dist {

/// C ← alpha·op(A)·op(B) + beta·C over the ranks of `comm`. Collective: all ranks pass the same, but for the parts that are
/// theirs. Returns when this rank's parts of C are there.
///
/// @param a, b, c  matrices in any layouts, in any mix; elements are those of keramos::gemm, for one product of which
///                 KERAMOS_TYPES must have the one whose C is of the type of sums as well (f16 needs f16_f32, i8 needs i8_i32).
///                 op(A) is m x k, op(B) k x n, C m x n; extents may be 0. A and B may overlap C, and are read before it is
///                 written; parts of C must not overlap one another.
/// @param alpha, beta  as in keramos::gemm. beta = 0 does not read C; alpha = 0 or k = 0 does not read A or B.
/// @throws invalid_argument, with one message on all ranks, if ranks pass different extents, elements, layouts, scalars or
///         options, if extents disagree, or a part is smaller than its layout says or has no data; memory_error likewise, if
///         options.memory is too little or a rank has no memory left before C is written; error likewise, if a rank's own
///         product fails. C is untouched then, but for one case: devices write products to C at once where C lies as the
///         schedule has it, if there is one step or C is of the type of sums. A product that fails leaves C written then.
///         error likewise, which says so, if memory ends while C is written in turns, as little memory makes it.
///         communication_error if the transport fails, or another rank leaves the call by an exception of its own: C may be
///         partly updated, and MPI may read A and B as long as it runs.
///
/// Products with an epilogue of the caller's are in dist/fused.hpp.
///
/// Rounding errors keep the bound of keramos::gemm with two more sums for each step and each part of k: sums are kept in the
/// type of sums and rounded to C's elements once. The same call on as many ranks gives the same bits. The schedule is
/// chosen by where the matrices lie; with one in options.schedule the bits are the same whatever the layouts.
template <class Alpha, class TA, class TB, class Beta, class TC>
gemm_report gemm(communicator& comm, Alpha alpha, const matrix<TA>& a, const matrix<TB>& b, Beta beta,
                 const matrix<TC>& c, const gemm_options& options = {}) {
  return keramos::detail::dist_multiply(comm, keramos::detail::dist_product_of(a, b, c, alpha, beta, options),
                                        options);
}

/// How gemm would do it: the transport, the schedule, and what it redistributes. Not collective; reads no data.
/// @throws invalid_argument if extents disagree, memory_error if options.memory is too little.
template <class TA, class TB, class TC>
std::string explain(const communicator& comm, const matrix<TA>& a, const matrix<TB>& b, const matrix<TC>& c,
                    const gemm_options& options = {}) {
  const auto product = keramos::detail::dist_product_of(a, b, c, 1, 0, options);
  return comm.transport().name() + ": " + keramos::detail::dist_explain(product, comm.size(), options);
}

}  // namespace keramos::dist
