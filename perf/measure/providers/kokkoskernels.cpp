// Providers `kokkoskernels-native` and `kokkoskernels+<TPL>`.
#include "kokkoskernels.hpp"

#include <KokkosKernels_config.h>

#include "measure/core/host.hpp"
#include "measure/core/visit_type.hpp"
#include "measure/device/machine_queue.hpp"

namespace keramos::perf {
namespace {

std::string version() {
#ifdef KOKKOSKERNELS_VERSION
  return std::to_string(KOKKOSKERNELS_VERSION / 10000) + "." +
         std::to_string(KOKKOSKERNELS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOSKERNELS_VERSION % 100);
#else
  // Releases before 3.7 do not tell; packages carry the Kokkos of the same version.
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
#endif
}

kokkoskernels_call pick_native(data_type type, matrix_layout layout) {
#define KERAMOS_PERF_PICK(Name)               \
  if constexpr (is_in_build(data_type::Name)) \
    if (type == data_type::Name) return native::pick_##Name(layout);
  KERAMOS_PERF_PICK(f32)
  KERAMOS_PERF_PICK(f64)
  KERAMOS_PERF_PICK(i32)
  KERAMOS_PERF_PICK(c32)
  KERAMOS_PERF_PICK(c64)
#undef KERAMOS_PERF_PICK
  return nullptr;  // it knows no elements but Kokkos' own
}

class kokkoskernels_provider : public gemm_provider {
 public:
  using picker = kokkoskernels_call (*)(data_type, matrix_layout);
  kokkoskernels_provider(provider_info info, picker pick) : info_(std::move(info)), pick_(pick) {}

  provider_info info() const override { return info_; }
  std::string cannot(const gemm_case& g) const override {
    return pick_(g.type, g.layout) ? "" : "it has no product of " + std::string(name(g.type));
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.device;
    call_ = pick_(g.type, g.layout);
  }
  double run(std::int64_t calls) override {
    const auto& space = machine_queue().execution_space();
    return seconds_on_queue(
        [&] { in_turn(sets_, calls, [&](const operand_set& set) { call_(case_, set, space); }); });
  }

 private:
  provider_info info_;
  picker pick_;
  gemm_case case_;
  std::vector<operand_set> sets_;
  kokkoskernels_call call_ = nullptr;
};

}  // namespace

std::string kokkoskernels_version() { return version(); }

std::unique_ptr<gemm_provider> make_kokkoskernels_native() {
  // Its code is in this program; Kokkos is what it runs on.
  auto libraries = loaded_libraries({"kokkoscore", "gomp", "libomp"});
  libraries.insert(libraries.begin(), executable_path());
  return std::make_unique<kokkoskernels_provider>(
      provider_info{"kokkoskernels-native", version(), libraries, host_threads(), false}, pick_native);
}

std::unique_ptr<gemm_provider> make_kokkoskernels_tpl(int threads) {
  const std::string tpl_name = tpl::name();
  if (tpl_name.empty()) return nullptr;
  provider_info info{"kokkoskernels+" + tpl_name, version(), loaded_libraries({"cublas"}), 0, false};
  if (tpl_name == "blas") {
    const auto blas = ask_linked_blas("dgemm_", threads);
    info.libraries = blas.libraries;
    if (!blas.version.empty()) info.version += " with " + blas.version;
    info.threads = blas.threads;
  }
  for (const auto& path : loaded_libraries({"kokkoskernels", "kokkoscore"})) {
    info.libraries.push_back(path);
  }
  return std::make_unique<kokkoskernels_provider>(std::move(info), tpl::pick);
}

}  // namespace keramos::perf
