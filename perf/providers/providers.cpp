#include "provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace keramos::perf {
namespace {

// A name of --provider and the rows it stands for.
struct entry {
  const char* name;
  bool by_default;
  std::function<std::unique_ptr<gemm_provider>(const provider_request&)> make;
  const char* absent;  // what to say when make returns null
};

std::vector<entry> entries(bool device_is_host) {
#ifdef KERAMOS_PERF_HAS_KOKKOSKERNELS
  const auto native = [](const auto&) { return make_kokkoskernels_native(); };
  const auto tpl = [](const auto& r) { return make_kokkoskernels_tpl(r.threads); };
  constexpr const char* no_tpl = "the Kokkos Kernels found was built without it";
#else
  const auto native = [](const auto&) { return std::unique_ptr<gemm_provider>(); };
  const auto tpl = native;
  constexpr const char* no_tpl = "this build found no Kokkos Kernels";
#endif
#ifdef KERAMOS_PERF_HAS_CUBLAS
  const auto cublas = [](const auto&) { return make_cublas(); };
#else
  const auto cublas = [](const auto&) { return std::unique_ptr<gemm_provider>(); };
#endif
  return {
      {"keramos", true, [](const auto&) { return make_keramos(); }, ""},
      {"kokkoskernels-native", true, native,
       "this build found no Kokkos Kernels: install it (libtrilinos-kokkos-kernels-dev, or built "
       "with your Kokkos), name its prefix in CMAKE_PREFIX_PATH and configure again"},
      {device_is_host ? "kokkoskernels+blas" : "kokkoskernels+cublas", true, tpl, no_tpl},
      {"blas", device_is_host, [](const auto& r) { return make_blas(r.blas_path, r.threads); }, ""},
      {"cublas", !device_is_host, cublas, "only in CUDA builds (configure with the preset cuda)"},
  };
}

// `kokkoskernels` stands for its native code and, where the package has one, its TPL's.
bool selects(const std::string& asked, const std::string& name) {
  return asked == name || (asked == "kokkoskernels" && name.starts_with("kokkoskernels"));
}

}  // namespace

void check_provider_names(const std::vector<std::string>& names) {
  for (const auto& asked : names) {
    bool known = false;
    for (const bool on_host : {true, false}) {
      for (const auto& e : entries(on_host)) known = known || selects(asked, e.name);
    }
    if (!known) {
      throw usage_error(
          fmt::format("provider '{}' is not known: write --provider with any of "
                      "keramos,kokkoskernels,blas,cublas",
                      asked));
    }
  }
}

#ifndef KERAMOS_PERF_HAS_KOKKOSKERNELS
std::string kokkoskernels_version() { return {}; }
#endif

std::vector<provider_slot> make_providers(const provider_request& request) {
  const auto all = entries(request.device_is_host);
  std::vector<provider_slot> slots;
  const auto add = [&](const entry& e, bool asked_for) {
    provider_slot slot{e.name, asked_for, nullptr, {}};
    try {
      slot.provider = e.make(request);
      if (!slot.provider) slot.problem = e.absent;
    } catch (const unavailable_error& error) {
      slot.problem = error.what();
      if (slot.name == "blas" && !request.blas_path.empty()) {
        throw usage_error(fmt::format(
            "--blas: {}: write the path of a CBLAS library, such as that of libopenblas.so.0", slot.problem));
      }
    }
    slots.push_back(std::move(slot));
  };
  const auto seen = [&](const entry& e) {
    return std::any_of(slots.begin(), slots.end(), [&](const provider_slot& s) { return s.name == e.name; });
  };
  const std::vector<std::string> defaults{""};
  for (const auto& asked : request.names.empty() ? defaults : request.names) {
    for (const auto& e : all) {
      if (seen(e) || !(asked.empty() ? e.by_default : selects(asked, e.name))) continue;
      // The libraries behind Kokkos Kernels are a bonus: no word about them where there are none.
      const bool bonus = asked != e.name && std::string(e.name).find('+') != std::string::npos;
      add(e, !asked.empty() && !bonus);
      if (bonus && !slots.back().provider) slots.pop_back();
    }
  }
  return slots;
}

}  // namespace keramos::perf
