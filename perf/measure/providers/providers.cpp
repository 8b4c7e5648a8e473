#include "provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ladder/step.hpp"

namespace keramos::perf {
namespace {

// A name of --provider and what makes it.
struct entry {
  const char* name;
  bool by_default;
  std::function<std::unique_ptr<gemm_provider>(const provider_choice&, int threads)> make;
  const char* absent;  // what to say when make returns null
  // What it can be asked for, of call_kind.
  bool plain = true, batched = true, grouped = true;

  bool has(call_kind calls) const {
    return calls == call_kind::plain ? plain : calls == call_kind::batched ? batched : grouped;
  }
};

std::vector<entry> entries(bool device_is_host) {
#ifdef KERAMOS_PERF_HAS_KOKKOSKERNELS
  const auto native = [](const auto&, int) { return make_kokkoskernels_native(); };
  const auto tpl = [](const auto&, int threads) { return make_kokkoskernels_tpl(threads); };
  const auto batched = [](const auto&, int) { return make_kokkoskernels_batched(); };
  constexpr const char* no_tpl = "the Kokkos Kernels found was built without it";
#else
  const auto native = [](const auto&, int) { return std::unique_ptr<gemm_provider>(); };
  const auto tpl = native, batched = native;
  constexpr const char* no_tpl = "this build found no Kokkos Kernels";
#endif
#ifdef KERAMOS_PERF_HAS_CUBLAS
  const auto cublas = [](const provider_choice& c, int) { return make_cublas(c.name == "cublas-loop"); };
  const auto cublaslt = [](const auto&, int) { return make_cublaslt(); };
#else
  const auto cublas = [](const auto&, int) { return std::unique_ptr<gemm_provider>(); };
  const auto cublaslt = cublas;
#endif
  constexpr const char* no_cuda = "only in CUDA builds (configure with the preset cuda)";
  const auto cblas = [](const provider_choice& c, int threads) { return make_blas(c, threads); };
  return {
      {"keramos", true, [](const auto&, int) { return make_keramos(); }, ""},
      {"kokkoskernels-native", true, native,
       "this build found no Kokkos Kernels: install it (libtrilinos-kokkos-kernels-dev, or built "
       "with your Kokkos), name its prefix in CMAKE_PREFIX_PATH and configure again",
       true, false, false},
      {device_is_host ? "kokkoskernels+blas" : "kokkoskernels+cublas", true, tpl, no_tpl, true, false, false},
      {"kokkoskernels-batched", true, batched, "this build found no Kokkos Kernels", false, true, false},
      {"blas", device_is_host, cblas, ""},
      {"blas-batch", device_is_host, cblas, "", false, true, false},
      {"openblas", false, cblas, ""},
      {"blis", false, cblas, ""},
      {"mkl", false, cblas, ""},
      {"cublas", !device_is_host, cublas, no_cuda},
      {"cublas-loop", !device_is_host, cublas, no_cuda, false, false, true},
      {"cublaslt", !device_is_host, cublaslt, no_cuda, true, true, false},
  };
}

// `kokkoskernels` stands for its native code and, where the package has one, its TPL's, or for its
// batched code.
bool selects(const std::string& asked, const std::string& name) {
  return asked == name || (asked == "kokkoskernels" && name.starts_with("kokkoskernels"));
}

// kokkoskernels+cublas is a name, but none of a host's.
bool is_known(const std::string& name, bool device_is_host) {
  const auto all = entries(device_is_host);
  return std::any_of(all.begin(), all.end(), [&](const entry& e) { return selects(name, e.name); });
}

}  // namespace

#ifndef KERAMOS_PERF_HAS_KOKKOSKERNELS
std::string kokkoskernels_version() { return {}; }
#endif

std::vector<provider_choice> choose_providers(const std::vector<std::string>& asked,
                                              const std::vector<std::string>& blas_paths, bool device_is_host,
                                              call_kind calls) {
  auto all = entries(device_is_host);
  std::erase_if(all, [&](const entry& e) { return !e.has(calls); });
  std::vector<provider_choice> chosen;
  const auto add = [&](const entry& e, const std::string& path, bool asked_for) {
    // The libraries behind Kokkos Kernels are a bonus: no word about them where there are none.
    // Nor about a BLAS without batched functions.
    const std::string name = e.name;
    const bool bonus = !asked_for && (name.find('+') != std::string::npos || name == "blas-batch");
    for (const auto& c : chosen) {
      if (c.name == e.name && c.path == path) return;
    }
    const bool is_cblas = is_cblas_name(e.name);
    chosen.push_back({e.name, path, asked_for, bonus, !is_cblas, is_cblas && calls == call_kind::grouped});
  };
  const auto add_blas = [&](const entry& e, const std::string& path, bool asked_for) {
    if (!path.empty() || blas_paths.empty() || !std::string(e.name).starts_with("blas"))
      return add(e, path, asked_for);
    for (const auto& named : blas_paths) add(e, named, true);
  };
  for (const auto& e : all) {
    if (asked.empty() && e.by_default) add_blas(e, "", false);
  }
  for (const auto& item : asked) {
    const auto equals = item.find('=');
    const auto name = item.substr(0, equals);
    const auto path = equals == std::string::npos ? std::string() : item.substr(equals + 1);
    if (equals != std::string::npos && (path.empty() || !is_cblas_name(name))) {
      throw usage_error(
          fmt::format("provider '{}': a path goes with a CBLAS library: write blas=/path/to/lib.so", item));
    }
    bool known = false;
    for (const auto& e : all) {
      if (!selects(name, e.name)) continue;
      add_blas(e, path,
               name == e.name || std::string(e.name) == "kokkoskernels-native" ||
                   std::string(e.name) == "kokkoskernels-batched");
      known = true;
    }
    if (!known && is_known(name, device_is_host)) {
      constexpr const char* has_no[] = {"single products", "batches", "lists of problems"};
      constexpr const char* instead[] = {"keramos-perf batched", "--provider keramos,kokkoskernels,blas, say",
                                         "--provider keramos,blas or keramos,cublas,cublas-loop, say"};
      throw usage_error(
          fmt::format("provider '{}' has no {}: write {}", name, has_no[int(calls)], instead[int(calls)]));
    }
    if (!known && is_known(name, !device_is_host)) {
      chosen.push_back({name, "", true, false, true});  // whose making says why it is missing
      known = true;
    }
    if (!known) {
      throw usage_error(
          fmt::format("provider '{}' is not known: write --provider with any of keramos,kokkoskernels,"
                      "blas,openblas,blis,mkl,cublas,cublaslt, or blas=PATH",
                      name));
    }
  }
  return chosen;
}

std::unique_ptr<gemm_provider> make_provider(const provider_choice& choice, int threads,
                                             bool device_is_host) {
#ifdef KERAMOS_PERF_HAS_ALL_COMMANDS
  if (is_ladder_provider_name(choice.name)) return make_ladder_provider(choice.name);
#endif
  for (const auto& e : entries(device_is_host)) {
    if (choice.name != e.name) continue;
    if (auto made = e.make(choice, threads)) return made;
    throw unavailable_error(e.absent);
  }
  throw unavailable_error(device_is_host ? "it needs a GPU" : "it is for hosts");
}

}  // namespace keramos::perf
