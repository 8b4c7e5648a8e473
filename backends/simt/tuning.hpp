// The machine that a GPU GEMM runs on, and how a row of a backend's tuning table becomes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/copy.hpp>
#include <keramos/core/error.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::backend::simt {

/// One way to run a GEMM: a tile configuration, and how the operands' memory runs.
template <class Exec, class T, tile::config Config, tile::direction AlongA, int VectorA,
          tile::direction AlongB, int VectorB>
class machine {
 public:
  static constexpr int stages = Config.stages;
  static constexpr int team_size = Config.warps() * backend::traits<Exec>::warp_size;
  static constexpr int teams_per_unit = Config.teams;

 private:
  using stager = typename backend::copy<Exec>::template stager<T, Config, AlongA, VectorA, AlongB,
                                                               VectorB, team_size>;
  using accumulator_type = typename backend::mma<Exec>::template accumulator<T, Config>;

 public:
  static constexpr std::size_t bytes = sizeof(T) * stages * stager::slot_size;

  KERAMOS_FORCEINLINE_FUNCTION static constexpr tile::shape block() { return Config.block; }
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t local_bytes() { return bytes; }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION auto operands(const Team& team, const gemm_problem<T>& p,
                                             const tile::position& at) const {
    T* local = static_cast<T*>(team.team_scratch(0).get_shmem_aligned(local_bytes(), 128));
    return stager(p, at, local, int(team.team_rank()));
  }
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION auto accumulator(const Team& team, const tile::position&) const {
    return accumulator_type(int(team.team_rank()));
  }
};

/// A row of a tuning table: for which architectures (minimum, in the backend's own numbers) and types,
/// and how. `efficiency` is the fraction of its best speed that the tile reaches on a full machine.
struct tuning_row {
  int arch;
  char type;  ///< 'f' floating, 'i' integer
  int element_bytes;
  tile::config config;
  double efficiency;
};

template <class T>
constexpr char type_letter = std::is_integral_v<T> ? 'i' : 'f';

/// Scratch that a row needs, with padding and the alignment of its start.
constexpr std::size_t local_bytes(const tuning_row& r) {
  const tile::config& c = r.config;
  return std::size_t(r.element_bytes) * c.stages * c.block.k * (c.block.m + c.block.n + 2 * pad);
}

/// 16 bytes of consecutive mn can be copied at once: unit stride, and every k row aligned.
template <class T>
bool runs_in_vectors(const tile::operand<T>& x) {
  constexpr int vector = 16 / int(sizeof(T));
  return x.stride_mn == 1 && x.stride_k % vector == 0 &&
         reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

/// Calls `f(direction constant, vector constant)` with how the operand's memory runs.
template <class T, class F>
void visit_direction(const tile::operand<T>& x, const F& f) {
  using tile::direction;
  if (x.stride_k == 1 && x.stride_mn != 1)
    f(std::integral_constant<direction, direction::k>(), std::integral_constant<int, 1>());
  else if (runs_in_vectors(x))
    f(std::integral_constant<direction, direction::mn>(),
      std::integral_constant<int, 16 / int(sizeof(T))>());
  else
    f(std::integral_constant<direction, direction::mn>(), std::integral_constant<int, 1>());
}

/// Calls `launch(machine)` for row `Config` and the problem's layouts.
template <class Exec, tile::config Config, class T, class Launch>
void launch_row(const gemm_problem<T>& p, const Launch& launch) {
  visit_direction(p.a, [&](auto along_a, auto vector_a) {
    visit_direction(p.b, [&](auto along_b, auto vector_b) {
      launch(machine<Exec, T, Config, decltype(along_a)::value, decltype(vector_a)::value,
                     decltype(along_b)::value, decltype(vector_b)::value>());
    });
  });
}

/// Predicted time of a problem on a row: waves of teams, each as long as its tile's work over the
/// speed that its efficiency promises.
inline double predicted_time(const tuning_row& r, index_t m, index_t n, int units) {
  const tile::shape& b = r.config.block;
  const double tiles = double((m + b.m - 1) / b.m) * double((n + b.n - 1) / b.n);
  const double slots = double(units) * r.config.teams;
  // A partly filled machine runs at the speed of its busiest multiprocessor.
  const double full = double(index_t(tiles / slots));
  const double rest = tiles - full * slots;
  const double teams_of_rest = rest > 0 ? double(index_t((rest + units - 1) / units)) : 0;
  return (full * r.config.teams + teams_of_rest) * b.m * b.n / r.efficiency;
}

/// Picks a row of `Table` for type T and launches it.
template <class Exec, const auto& Table>
struct table_tuning {
  template <class T>
  static bool prefers_transposed(const gemm_problem<T>& p) {
    return p.c_col_stride != 1 && p.c_row_stride == 1;
  }

  /// Nothing is small enough to be done without a launch.
  template <class T, class Epilogue>
  static bool run_small(const Exec&, const gemm_problem<T>&, const Epilogue&) {
    return false;
  }

  template <class T, class Launch>
  static void choose_row(const Exec& exec, const gemm_problem<T>& p, int arch, int units,
                         const std::optional<tile::shape>& requested, const Launch& launch) {
    int best = -1;
    double best_time = 0;
    std::string known;
    for (int i = 0; i < int(std::size(Table)); ++i) {
      const tuning_row& r = Table[i];
      if (r.type != type_letter<T> || r.element_bytes != int(sizeof(T)) || r.arch > arch) continue;
      const int team = r.config.warps() * backend::traits<Exec>::warp_size;
      const bool fits = local_bytes(r) <= backend::traits<Exec>::local_memory_limit(exec, team);
      if (requested) {
        known += (known.empty() ? "" : ", ") + to_string(r.config.block);
        if (r.config.block == *requested && (best < 0 || fits)) best = i;
        continue;
      }
      const double time = predicted_time(r, p.m, p.n, units);
      if (fits && (best < 0 || time < best_time)) best = i, best_time = time;
    }
    if (best < 0)
      throw launch_error(requested ? "keramos::gemm: options.block is " + to_string(*requested) +
                                         " but the tiles for this type and device are " + known +
                                         "; pass one of them or none"
                                   : std::string("keramos::gemm: no tile of the tuning table fits the "
                                                 "local memory of this device; add a smaller one"));
    launch_index<T>(best, p, launch, std::make_index_sequence<std::size(Table)>());
  }

 private:
  template <class T, class Launch, std::size_t... I>
  static void launch_index(int index, const gemm_problem<T>& p, const Launch& launch,
                           std::index_sequence<I...>) {
    const auto try_one = [&](auto i) {
      constexpr const tuning_row& r = Table[decltype(i)::value];
      if constexpr (r.type == type_letter<T> && r.element_bytes == int(sizeof(T)))
        if (index == int(decltype(i)::value)) launch_row<Exec, r.config>(p, launch);
    };
    (try_one(std::integral_constant<std::size_t, I>()), ...);
  }
};

}  // namespace keramos::backend::simt
