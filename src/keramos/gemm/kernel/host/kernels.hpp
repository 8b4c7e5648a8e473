// Chooses the compiled kernels for the processor that runs.
#pragma once

#include <algorithm>
#include <cstddef>

#include <keramos/backends/host/caches.hpp>
#include <keramos/backends/host/processor.hpp>
#include <keramos/base/compiler.hpp>
#include <keramos/base/export.hpp>
#include <keramos/config.hpp>
#include <keramos/gemm/kernel/host/kernel_table.hpp>

namespace keramos::detail::host {

namespace baseline {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx2 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx512 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx512_vnni {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx512_bf16 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace amx {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace neon_dot {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace sve256 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace sve512 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}

/// The kernels with no more rows in a block than half of a second-level cache of so many bytes holds.
template <class Types>
kernel_table<Types> fitted(kernel_table<Types> kernels, std::size_t cache_bytes) {
  const std::size_t panel = sizeof(typename Types::accumulator) * kernels.packed(kernels.kc) * kernels.mr;
  const std::size_t panels = cache_bytes / 2 / panel;
  kernels.mc = kernels.mr * int(std::clamp<std::size_t>(panels, 1, kernels.mc / kernels.mr));
  return kernels;
}

/// Calls `use` with `from.baseline()`, and with `from.avx2()`, `from.avx512()` and what extends that, or `from.neon_dot()`, `from.sve256()`
/// or `from.sve512()`, where this library, this processor and `from` have them: the best comes last.
template <class From, class Use>
void for_each_version(const From& from, const Use& use) {
  use(from.baseline());
#ifdef KERAMOS_HAS_HOST_ARM
  if constexpr (requires { from.neon_dot(); })
    if (backend::host::has_dot_product()) use(from.neon_dot());
  [[maybe_unused]] const int sve = backend::host::sve_bytes();
  if constexpr (requires { from.sve256(); })
    if (sve == 32) use(from.sve256());
  if constexpr (requires { from.sve512(); })
    if (sve == 64) use(from.sve512());
#endif
#ifdef KERAMOS_HAS_HOST_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) use(from.avx2());
#endif
#ifdef KERAMOS_HAS_HOST_AVX512
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
    return;
  const bool pairs_are_slow = backend::host::bf16_pairs_are_slow();
  const auto use_bf16 = [&] {
    if constexpr (requires { from.avx512_bf16(); })
      if (__builtin_cpu_supports("avx512bf16")) use(from.avx512_bf16());
  };
  if (pairs_are_slow) use_bf16();
  use(from.avx512());
  if constexpr (requires { from.avx512_vnni(); })
    if (__builtin_cpu_supports("avx512vnni")) use(from.avx512_vnni());
  if (!pairs_are_slow) use_bf16();
  if constexpr (requires { from.amx(); })
    if (backend::host::has_amx()) use(from.amx());
#endif
}
template <class From>
auto best_version(const From& from) {
  auto best = from.baseline();
  for_each_version(from, [&](auto version) { best = version; });
  return best;
}

template <class Types>
struct compiled_tables {
  auto baseline() const { return baseline::compiled_kernels<Types>(); }
  auto avx2() const { return avx2::compiled_kernels<Types>(); }
  auto avx512() const { return avx512::compiled_kernels<Types>(); }
  auto avx512_vnni() const requires(multiplies_bytes<Types>) {
    return avx512_vnni::compiled_kernels<Types>();
  }
  auto avx512_bf16() const requires(multiplies_as_bf16<Types>) {
    return avx512_bf16::compiled_kernels<Types>();
  }
  auto amx() const requires(multiplies_bytes<Types> || multiplies_as_bf16<Types>) {
    return amx::compiled_kernels<Types>();
  }
  auto neon_dot() const requires(multiplies_bytes<Types>) { return neon_dot::compiled_kernels<Types>(); }
  auto sve256() const { return sve256::compiled_kernels<Types>(); }
  auto sve512() const { return sve512::compiled_kernels<Types>(); }
};

/// `Code::run(arguments)`, compiled for each instruction set: what a user's source instantiates, compiled for the oldest
/// processor, would be several times slower than the library's kernels. Code::run must be forced inline.
template <class Code, class... Arguments>
struct versions {
  using function = void(Arguments...);

  /// The one for this processor.
  static void run(Arguments... arguments) {
    static function* const chosen = best_version(versions());
    chosen(arguments...);
  }

  function* baseline() const { return Code::run; }
  function* avx2() const { return for_avx2; }
  function* avx512() const { return for_avx512; }

 private:
  KERAMOS_X86("avx2,fma") static void for_avx2(Arguments... arguments) { Code::run(arguments...); }
  KERAMOS_X86("avx512f,avx512dq,avx512bw,avx512vl,fma")
  static void for_avx512(Arguments... arguments) { Code::run(arguments...); }
};

/// Those that GEMM uses on this machine.
template <class Types>
const kernel_table<Types>& kernels() {
  static const kernel_table<Types> chosen =
      fitted(*best_version(compiled_tables<Types>()), backend::host::second_level_cache_bytes());
  return chosen;
}

}  // namespace keramos::detail::host
