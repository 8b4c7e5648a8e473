// The machine that a GPU GEMM runs on, and how a row of a backend's tuning table becomes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/copy.hpp>
#include <keramos/backends/simt/small_batch_tuning.hpp>
#include <keramos/core/error.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::backend::simt {

/// One way to run a GEMM: a tile configuration, and how the operands' memory runs.
template <class Exec, class T, tile::config Config, access A, access B>
class machine {
 public:
  static constexpr int stages = Config.stages;
  static constexpr int team_size = Config.warps() * backend::traits<Exec>::warp_size;
  static constexpr int teams_per_unit = Config.teams;

 private:
  using accumulator_type = typename backend::mma<Exec>::template accumulator<T, Config>;
  static constexpr tile::direction rows(const access& x) {
    return accumulator_type::reads_either ? x.along : tile::direction::mn;
  }
  using stager = typename backend::copy<Exec>::template stager<T, Config, A, rows(A), B, rows(B), team_size>;

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
  template <class Team, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION auto accumulator(const Team& team, const gemm_problem<T>&,
                                                const tile::position&, const Epilogue&) const {
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

/// Scratch that a row needs, whichever way its panels lie.
constexpr std::size_t local_bytes(const tuning_row& r) {
  const tile::config& c = r.config;
  const auto panel = [&](int mn) {
    const bool swizzled = c.block.k == 8 && r.element_bytes == 8;  // see panel
    const int rows_of_mn = c.block.k * (mn + pad), rows_of_k = mn * (c.block.k + (swizzled ? 0 : pad));
    return c.math == tile::unit::matrix && rows_of_k > rows_of_mn ? rows_of_k : rows_of_mn;
  };
  return std::size_t(r.element_bytes) * c.stages * (panel(c.block.m) + panel(c.block.n));
}

/// Calls `launch(machine, p)` for row `Config` and the problem's layouts. One operand that must be copied
/// element by element makes the other so, which costs little and halves the number of kernels.
template <class Exec, tile::config Config, class T, class Launch>
void launch_row(const gemm_problem<T>& p, const Launch& launch) {
  using tile::direction;
  constexpr int vector = 16 / int(sizeof(T));
  constexpr bool transposes = !backend::mma<Exec>::template accumulator<T, Config>::reads_either;
  const bool a_k = p.a.stride_k == 1 && p.a.stride_mn != 1;
  const bool b_k = p.b.stride_k == 1 && p.b.stride_mn != 1;
  const auto in_vectors = [&](const tile::operand<T>& x, bool along_k) {
    if (along_k) return transposes || runs_in_vectors(x.data, x.stride_k, x.stride_mn);
    return runs_in_vectors(x.data, x.stride_mn, x.stride_k);
  };
  const auto run = [&](auto along_a, auto along_b, auto vectors) {
    constexpr auto how = [](direction along, bool vectors) {
      return access{along, vectors && !(transposes && along == direction::k) ? vector : 1};
    };
    launch(machine<Exec, T, Config, how(along_a(), vectors()), how(along_b(), vectors())>(), p);
  };
  const auto with_vectors = [&](auto along_a, auto along_b) {
    constexpr bool never = transposes && along_a() == direction::k && along_b() == direction::k;
    if (!never && in_vectors(p.a, a_k) && in_vectors(p.b, b_k))
      run(along_a, along_b, std::bool_constant<!never>());
    else
      run(along_a, along_b, std::false_type());
  };
  using mn = std::integral_constant<direction, direction::mn>;
  using k = std::integral_constant<direction, direction::k>;
  if (a_k && b_k)
    with_vectors(k(), k());
  else if (a_k)
    with_vectors(k(), mn());
  else if (b_k)
    with_vectors(mn(), k());
  else
    with_vectors(mn(), mn());
}

/// Predicted time of a problem on a row: waves of teams, each as long as its tile's work over the speed
/// that its efficiency promises; a multiprocessor that is not full hides less latency.
inline double predicted_time(const tuning_row& r, index_t m, index_t n, int units) {
  const tile::config& c = r.config;
  const double tiles = double((m + c.block.m - 1) / c.block.m) * double((n + c.block.n - 1) / c.block.n);
  const double slots = double(units) * c.teams;
  const double waves = double(index_t(tiles / slots));
  const double rest = double(index_t((tiles - waves * slots + units - 1) / units));  // teams on the busiest
  // Speed with so many warps: one in each of the four schedulers reaches 0.8, a fit to the H200's f64.
  const auto speed = [&](double teams) { return teams * c.warps() / (teams * c.warps() + 1); };
  const double partial = rest > 0 ? rest * speed(c.teams) / speed(rest) : 0;
  return (waves * c.teams + partial) * c.block.m * c.block.n / r.efficiency;
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
  static bool run_direct(const Exec&, const gemm_problem<T>&, const Epilogue&) {
    return false;
  }

  /// A batch of small problems; false if they are not.
  template <class T, class Batch, class Epilogue>
  static bool run_small(const Exec& exec, const Batch& batch, const gemm_problem<T>& shape,
                        const Epilogue& epilogue) {
    return run_small_batch(exec, batch, shape, epilogue);
  }
  /// Whether run_small takes a list of problems.
  template <class T>
  static bool is_small(const std::vector<grouped_problem<T>>& problems) {
    return is_small_group(problems);
  }

  /// Calls `launch(machine, shape)` with the best tile for a batch that has `count_tiles(block)` tiles.
  template <class T, class CountTiles, class Launch>
  static void choose_batched(const Exec& exec, const gemm_problem<T>& shape, const CountTiles& count_tiles,
                             const Launch& launch) {
    using own = backend::tuning<Exec>;
    int best = -1;
    double best_time = 0;
    for (int i = 0; i < int(std::size(Table)); ++i) {
      const tuning_row& r = Table[i];
      const tile::shape& block = r.config.block;
      if (r.type != type_letter<T> || r.element_bytes != int(sizeof(T)) || r.arch > own::arch(exec) ||
          local_bytes(r) > backend::traits<Exec>::local_memory_limit(
                               exec, r.config.warps() * backend::traits<Exec>::warp_size))
        continue;
      const double time = predicted_time(r, count_tiles(block) * block.m, block.n, own::units(exec));
      if (best < 0 || time < best_time) best = i, best_time = time;
    }
    if (best < 0)
      throw launch_error(
          "keramos::gemm_batched: no tile of the tuning table fits the local memory of this "
          "device; add a smaller one");
    launch_index<T>(best, shape, launch, std::make_index_sequence<std::size(Table)>());
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
