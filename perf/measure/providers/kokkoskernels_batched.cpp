// Provider `kokkoskernels-batched`: what Kokkos Kernels recommends for many small matrices, a parallel loop
// in which each thread calls KokkosBatched::SerialGemm.
#include <KokkosBatched_Gemm_Decl.hpp>
#include <KokkosBatched_Gemm_Serial_Impl.hpp>
#include <Kokkos_Core.hpp>
#include <keramos/config.hpp>

#include "kokkoskernels.hpp"
#include "measure/core/host.hpp"
#include "measure/device/machine_queue.hpp"

namespace keramos::perf {
namespace {

using exec = keramos::default_execution_space;

template <class T, class OpA, class OpB>
struct serial_gemm {
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using in = Kokkos::View<const T**, Kokkos::LayoutStride, exec::memory_space, unmanaged>;
  using out = Kokkos::View<T**, Kokkos::LayoutStride, exec::memory_space, unmanaged>;

  const T *a, *b;
  T* c;
  int m, n, k;
  bool right;
  T alpha, beta;

  KOKKOS_FUNCTION Kokkos::LayoutStride layout(int rows, int cols) const {
    return right ? Kokkos::LayoutStride(rows, cols, cols, 1) : Kokkos::LayoutStride(rows, 1, cols, rows);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t l) const {
    constexpr bool plain_a = std::is_same_v<OpA, KokkosBatched::Trans::NoTranspose>;
    constexpr bool plain_b = std::is_same_v<OpB, KokkosBatched::Trans::NoTranspose>;
    const in av(a + l * m * k, layout(plain_a ? m : k, plain_a ? k : m));
    const in bv(b + l * k * n, layout(plain_b ? k : n, plain_b ? n : k));
    const out cv(c + l * m * n, layout(m, n));
    KokkosBatched::SerialGemm<OpA, OpB, KokkosBatched::Algo::Gemm::Unblocked>::invoke(alpha, av, bv, beta,
                                                                                      cv);
  }
};

template <class T, class OpA, class OpB>
void call(const gemm_case& g, const operand_set& set, const exec& space) {
  const serial_gemm<T, OpA, OpB> f{static_cast<const T*>(set.a),
                                   static_cast<const T*>(set.b),
                                   static_cast<T*>(set.c),
                                   int(g.m),
                                   int(g.n),
                                   int(g.k),
                                   g.layout == matrix_layout::right,
                                   T(g.alpha),
                                   T(g.beta)};
  Kokkos::parallel_for("kokkoskernels-batched",
                       Kokkos::RangePolicy<exec, Kokkos::IndexType<std::int64_t>>(space, 0, g.batch), f);
}

template <class T>
kokkoskernels_call pick(const gemm_case& g) {
  using N = KokkosBatched::Trans::NoTranspose;
  using X = KokkosBatched::Trans::Transpose;
  if (g.op_a == transpose::N) return g.op_b == transpose::N ? call<T, N, N> : call<T, N, X>;
  return g.op_b == transpose::N ? call<T, X, N> : call<T, X, X>;
}

kokkoskernels_call pick(const gemm_case& g) {
  if (g.type == data_type::f32) return pick<float>(g);
  if (g.type == data_type::f64) return pick<double>(g);
  if (g.type == data_type::c32) return pick<Kokkos::complex<float>>(g);
  if (g.type == data_type::c64) return pick<Kokkos::complex<double>>(g);
  return nullptr;
}

class kokkoskernels_batched_provider : public gemm_provider {
 public:
  provider_info info() const override {
    auto libraries = loaded_libraries({"kokkoscore", "gomp", "libomp"});
    libraries.insert(libraries.begin(), executable_path());
    return {"kokkoskernels-batched", kokkoskernels_version(), libraries, host_threads(), false};
  }
  std::string cannot(const gemm_case& g) const override {
    if (g.form != batch_form::strided) return "it is measured with strided batches alone";
    if (g.type == data_type::i32) return "its integers are int, whose overflow is undefined";
    const bool conjugates = g.op_a == transpose::C || g.op_b == transpose::C;
    if (is_complex(g.type) && conjugates) return "it does not conjugate";
    return pick(g) ? "" : "it has no product of " + std::string(name(g.type));
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.device;
    call_ = pick(g);
  }
  double run(std::int64_t calls) override {
    const auto& space = machine_queue().execution_space();
    return seconds_on_queue(
        [&] { in_turn(sets_, calls, [&](const operand_set& set) { call_(case_, set, space); }); });
  }

 private:
  gemm_case case_;
  std::vector<operand_set> sets_;
  kokkoskernels_call call_ = nullptr;
};

}  // namespace

std::unique_ptr<gemm_provider> make_kokkoskernels_batched() {
  return std::make_unique<kokkoskernels_batched_provider>();
}

}  // namespace keramos::perf
