// Which of the instruction sets that something was compiled for this processor has.
#pragma once

#include <keramos/backends/host/processor.hpp>
#include <keramos/base/compiler.hpp>
#include <keramos/config.hpp>

namespace keramos::backend::host {

/// Calls `use` with `from.baseline()`, and with `from.avx2()`, `from.avx512()` and what extends that, or `from.neon_dot()`,
/// `from.sve256()` or `from.sve512()`, where this library, this processor and `from` have them: the best comes last.
template <class From, class Use>
void for_each_version(const From& from, const Use& use) {
  use(from.baseline());
#ifdef KERAMOS_HAS_HOST_ARM
  if constexpr (requires { from.neon_dot(); })
    if (has_dot_product()) use(from.neon_dot());
  [[maybe_unused]] const int sve = sve_bytes();
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
  const bool pairs_are_slow = bf16_pairs_are_slow();
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
    if (has_amx()) use(from.amx());
#endif
}
template <class From>
auto best_version(const From& from) {
  auto best = from.baseline();
  for_each_version(from, [&](auto version) { best = version; });
  return best;
}

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

}  // namespace keramos::backend::host
