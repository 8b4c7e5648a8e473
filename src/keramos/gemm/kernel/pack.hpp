// Copies of operands that tiles cannot stage 16 bytes at a time, or not in the direction of their memory: into memory of
// the queue, so that their rows run along m or n, or along k, each from a line of the cache; or in lines (tile/lines.hpp). A
// large product reads each element often, so it pays there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/memory.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/lines.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Elements of type T from row to row of a packed operand: whole lines of the cache.
template <class T>
index_t packed_pitch(index_t extent) {
  constexpr index_t line = 128 / index_t(sizeof(T));
  return ceil_div(extent, line) * line;
}

/// One operand to copy: element (mn, k) goes to `to[k * pitch + mn]` or `to[mn * pitch + k]`, and zeros to what is left of
/// the pitch, along k to what is left of a team's block. What matrix units need prepared (Types::needs_matrix_units) goes to lines
/// instead where it is to run along k. Of elements that are split each line becomes two, the second of what the first leaves.
template <class T>
struct pack_task {
  /// What a team copies: of short elements more of them, so that about as many bytes are on their way.
  static constexpr bool is_short = sizeof(T) <= 2;
  static constexpr int mn = is_short ? 128 : 64, k = is_short ? 64 : 32;

  tiling::operand<T> from{};
  T* to = nullptr;
  index_t pitch = 0, extent_mn = 0;
  bool along_k = false;
  int blocks_mn = 0, teams = 0;

  pack_task() = default;
  pack_task(const tiling::operand<T>& from, T* to, index_t extent_mn, index_t extent_k,
            tiling::direction along)
      : from(from),
        to(to),
        pitch(packed_pitch<T>(along == tiling::direction::k ? extent_k : extent_mn)),
        extent_mn(extent_mn),
        along_k(along == tiling::direction::k),
        blocks_mn(int(ceil_div(extent_mn, mn))),
        teams(blocks_mn * int(ceil_div(extent_k, k))) {}
};

template <class Types>
inline constexpr std::size_t pack_element_bytes = std::max(sizeof(typename Types::a),
                                                           sizeof(typename Types::b));
/// Lines that a packed operand has for each 128 bytes of its own.
template <class Types>
inline constexpr int packed_lines = Types::splits_elements ? 2 : 1;
/// Whether what is packed to run along k is packed in lines.
template <class Types>
inline constexpr bool packs_lines =
    (Types::operands.compute != scalar_type::residues) && Types::needs_matrix_units;

/// Copies one operand or both, a block of mn x k a team, through scratch, so that memory is read and written in rows. Elements
/// for matrix units that truncate are rounded on the way.
template <class Types, class Exec>
struct pack_kernel {
  using A = typename Types::a;
  using B = typename Types::b;
  static constexpr int team_size = 256;
  static constexpr std::size_t element_bytes = pack_element_bytes<Types>;
  static constexpr bool has_short = pack_task<A>::is_short || pack_task<B>::is_short;
  static constexpr int teams_per_unit =
      element_bytes == 8 || has_short ? 4 : 6;  // more spill, fewer do not fill the memory
  /// Elements of a word of four bytes, if they are short: they are written as words. (To read words, too, is slower.) Rows in
  /// local memory are an odd number of words, so that a column's elements are stored in different banks.
  template <class T>
  static constexpr int word = pack_task<T>::is_short ? 4 / int(sizeof(T)) : 1;
  template <class T>
  static constexpr int pitch = pack_task<T>::mn + word<T>;
  template <class T>
  static constexpr std::size_t bytes_for = sizeof(T) * (pack_task<T>::k * pitch<T>);
  static constexpr std::size_t bytes = std::max(bytes_for<A>, bytes_for<B>);

  pack_task<A> a;
  pack_task<B> b;
  index_t extent_k;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    void* local = team.team_scratch(0).get_shmem_aligned(std::size_t(bytes), local_alignment);
    const int rank = team.league_rank();
    const bool of_a = rank < a.teams;
    const int block = of_a ? rank : rank - a.teams;
    if constexpr (std::is_same_v<A, B>)
      copy(team, static_cast<A*>(local), of_a ? a : b, block);
    else if (of_a)
      copy(team, static_cast<A*>(local), a, block);
    else
      copy(team, static_cast<B*>(local), b, block);
  }

 private:
  template <class Team, class T>
  KERAMOS_FORCEINLINE_FUNCTION void copy(const Team& team, T* local, const pack_task<T> task,
                                         int block) const {
    constexpr int mn = pack_task<T>::mn, k = pack_task<T>::k;
    const int thread = int(team.team_rank());
    const index_t mn0 = index_t(block % task.blocks_mn) * mn;
    const index_t k0 = index_t(block / task.blocks_mn) * k;
    if (task.from.stride_k == 1)
      read<true>(local, task, mn0, k0, thread);
    else
      read<false>(local, task, mn0, k0, thread);
    team.team_barrier();
    if (task.along_k)
      write<true>(task, local, mn0, k0, thread);
    else
      write<false>(task, local, mn0, k0, thread);
  }

  /// Where a thread's first run of `Run` elements in a block is, how far the next one is across, and how many it has.
  template <class T, bool AlongK, int Run>
  struct share {
    static constexpr int mn = pack_task<T>::mn, k = pack_task<T>::k;
    static constexpr int lanes = (AlongK ? k : mn) / Run, step = team_size / lanes,
                         count = mn * k / Run / team_size;
    static_assert(team_size % lanes == 0 && count * Run * team_size == mn * k);
    int along, across;

    KERAMOS_FORCEINLINE_FUNCTION explicit share(int thread)
        : along(thread % lanes * Run), across(thread / lanes) {}
    /// Run r's place along mn, and along k.
    KERAMOS_FORCEINLINE_FUNCTION int at_mn(int r) const { return AlongK ? across + r * step : along; }
    KERAMOS_FORCEINLINE_FUNCTION int at_k(int r) const { return AlongK ? along : across + r * step; }
  };

  KERAMOS_FORCEINLINE_FUNCTION static int at_most(index_t x, int most) { return x < most ? int(x) : most; }

  /// All of a thread's elements are on their way before the first is stored.
  template <bool AlongK, class T>
  KERAMOS_FORCEINLINE_FUNCTION void read(T* local, const pack_task<T>& task, index_t mn0, index_t k0,
                                         int thread) const {
    using my = share<T, AlongK, 1>;
    const my mine(thread);
    const T* in = task.from.at(mn0 + mine.at_mn(0), k0 + mine.at_k(0));
    const index_t stride = my::step * (AlongK ? task.from.stride_mn : task.from.stride_k);
    const int left_mn = at_most(task.extent_mn - mn0, pack_task<T>::mn) - mine.at_mn(0),
              left_k = at_most(extent_k - k0, pack_task<T>::k) - mine.at_k(0);
    const int rows = (AlongK ? left_k : left_mn) > 0 ? (AlongK ? left_mn : left_k) : 0;
    T element[my::count];
    KERAMOS_UNROLL
    for (int r = 0; r < my::count; ++r) {
      element[r] = r * my::step < rows ? in[r * stride] : T(0);
      if constexpr (Types::needs_matrix_units && !Types::splits_elements)
        element[r] = backend::mma<Exec>::rounded(element[r]);
    }
    KERAMOS_UNROLL
    for (int r = 0; r < my::count; ++r) local[mine.at_k(r) * pitch<T> + mine.at_mn(r)] = element[r];
  }

  template <bool AlongK, class T>
  KERAMOS_FORCEINLINE_FUNCTION void write(const pack_task<T>& task, const T* local, index_t mn0, index_t k0,
                                          int thread) const {
    using my = share<T, AlongK, word<T>>;
    const my mine(thread);
    const auto from = [&](int r) { return local + mine.at_k(r) * pitch<T> + mine.at_mn(r); };
    if constexpr (AlongK && packs_lines<Types>) {
      static_assert(pack_task<T>::k == tiling::lines<T>::length && word<T> == 1 && my::step % 8 == 0,
                    "keramos: a team's columns are a line");
      T* out = task.to + tiling::lines<T>{task.extent_mn}.offset(mn0 + mine.at_mn(0),
                                                                 packed_lines<Types> * k0 + mine.at_k(0));
      KERAMOS_UNROLL
      for (int r = 0; r < my::count; ++r)
        if (mn0 + mine.at_mn(r) < task.extent_mn)
          store(out + r * my::step * pack_task<T>::k, task.extent_mn * pack_task<T>::k, *from(r));
    } else {
      T* out = task.to + (AlongK ? (mn0 + mine.at_mn(0)) * task.pitch + k0 + mine.at_k(0)
                                 : (k0 + mine.at_k(0)) * task.pitch + mn0 + mine.at_mn(0));
      const int rows = AlongK ? at_most(task.extent_mn - mn0, pack_task<T>::mn) - mine.at_mn(0)
                              : at_most(extent_k - k0, pack_task<T>::k) - mine.at_k(0);
      if (AlongK ? k0 + mine.at_k(0) >= task.pitch : mn0 + mine.at_mn(0) >= task.pitch) return;
      KERAMOS_UNROLL
      for (int r = 0; r < my::count; ++r) {
        if (r * my::step >= rows) break;
        run<T, word<T>> x;
        KERAMOS_UNROLL
        for (int v = 0; v < word<T>; ++v) x.value[v] = from(r)[AlongK ? v * pitch<T> : v];
        if constexpr (pack_task<T>::is_short)
          store_at_once(out + r * my::step * task.pitch, x);
        else
          out[r * my::step * task.pitch] = x.value[0];
      }
    }
  }

  /// Stores an element in its line, or what it is split into there and in the next.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static void store(T* to, [[maybe_unused]] index_t next_line, T x) {
    if constexpr (Types::splits_elements) {
      T high, rest;
      backend::mma<Exec>::split(x, high, rest);
      to[0] = high, to[next_line] = rest;
    } else {
      *to = x;
    }
  }
};

/// Queues the copies.
template <class Types, class Exec>
void pack(const Exec& exec, const pack_task<typename Types::a>& a, const pack_task<typename Types::b>& b,
          index_t extent_k) {
  using kernel = pack_kernel<Types, Exec>;
  constexpr int teams =
      backend::traits<Exec>::teams_per_unit(kernel::teams_per_unit, kernel::team_size, kernel::bytes);
  team_launch<kernel::team_size, teams>("keramos::gemm_pack", exec, a.teams + b.teams, kernel::bytes,
                                        kernel{a, b, extent_k});
}

/// Extents of bands of C, whose operands are packed at once, are multiples of that: of whole tiles, transposed or not, except
/// for those of 192 columns.
inline constexpr index_t band_multiple = 256;

/// The most rows or columns of an operand that choose_packing copies at once; 0 if no copy pays.
template <class Types>
index_t most_worth_packing(index_t m, index_t n, index_t k, bool transposes,
                           const backend::simt::device_model& device) {
  const bool is_short = std::min(sizeof(typename Types::a), sizeof(typename Types::b)) < 4;
  const index_t least = is_short     ? device.least_extent_to_pack_short
                        : transposes ? device.least_extent_to_pack
                                     : device.least_extent_to_pack_both;
  const index_t least_k = is_short ? device.least_extent_to_pack_short : device.least_k_to_pack;
  const index_t most =
      index_t(device.most_packed_bytes / pack_element_bytes<Types>) / k / band_multiple * band_multiple;
  return m < least || n < least || k < least_k || most < least ? 0 : most;
}

/// `a_vectors` and `b_vectors` say whether the operands can be staged in place 16 bytes at a time;
/// `transposes` whether tiles stage what runs along k element by element at any rate. Then two such operands are worth a copy of
/// one; of each where that takes little memory.
template <class Types>
void choose_packing(const gemm_problem<Types>& p, bool a_along_k, bool a_vectors, bool b_along_k,
                    bool b_vectors, bool transposes, const backend::simt::device_model& device,
                    gemm_part& part) {
  part.pack_a = part.pack_b = false;
  part.band_m = p.m, part.band_n = p.n;
  const bool is_short = std::min(sizeof(typename Types::a), sizeof(typename Types::b)) < 4;
  constexpr std::size_t element_bytes = pack_element_bytes<Types>;
  const index_t most = most_worth_packing<Types>(p.m, p.n, p.k, transposes, device);
  if (most == 0) return;
  // Numbers of 16 bytes are vectors anyway, and short ones are shifted while they are staged.
  const bool can_gain = transposes && !is_short && element_bytes < 16;
  // Then one operand is copied even if that takes several bands. With two, bands would copy one of them again and again.
  const bool gains_much = can_gain && Types::is_complex && Types::uniform;
  const auto takes_little = [&](index_t extent) {
    return can_gain && double(extent) * double(p.k) * element_bytes <=
                           double(gains_much ? device.most_packed_bytes : device.most_bytes_to_transpose);
  };
  part.pack_b = transposes && b_along_k ? a_along_k || gains_much || takes_little(p.n) : !b_vectors;
  part.pack_a = transposes && a_along_k ? takes_little(p.m) || (gains_much && !part.pack_b) : !a_vectors;
  if (part.pack_a) part.band_m = std::min(p.m, most);
  if (part.pack_b) part.band_n = std::min(p.n, most);
}

/// The most rows or columns of an operand that are packed at once, for tiles of warpgroups; 0 if k is too long for any. What
/// matrix units need prepared may take as much memory as an emulated product: each band prepares an operand once more.
template <class Types>
index_t most_to_pack(index_t k, const backend::simt::device_model& device) {
  const std::size_t bytes = packs_lines<Types>
                                ? std::max(device.most_packed_bytes, device.most_emulation_bytes / 2)
                                : device.most_packed_bytes;
  return index_t(bytes / pack_element_bytes<Types>) / (packed_lines<Types> * packed_pitch<char>(k)) /
         band_multiple * band_multiple;
}
template <class Types>
bool can_pack(index_t k, const backend::simt::device_model& device) {
  return most_to_pack<Types>(k, device) > 0;
}

/// Sets the bands of operands that are to be packed.
template <class Types>
void pack_in_bands(const gemm_problem<Types>& p, const backend::simt::device_model& device, gemm_part& part) {
  const index_t most = std::max(most_to_pack<Types>(p.k, device), band_multiple);
  part.band_m = part.pack_a ? std::min(p.m, most) : p.m;
  part.band_n = part.pack_b ? std::min(p.n, most) : p.n;
}

/// Whether it pays to copy an operand so that its rows begin at sectors of memory. `part` is its share of a tile's rows and
/// columns. The operand with the larger share pays sooner: once it is aligned, loads of the other are mostly hidden behind
/// products.
template <class T>
bool gains_from_alignment(const tiling::operand<T>& x, index_t other_extent, double part,
                          const backend::simt::device_model& device) {
  const index_t pitch = x.stride_k == 1 ? x.stride_mn : x.stride_k;
  return pitch * index_t(sizeof(T)) % backend::simt::sector_bytes != 0 &&
         double(other_extent) * part >=
             (part > 0.5 ? device.enough_for_larger_part : 1.0) * double(device.least_extent_to_align);
}

/// Has those operands packed that warpgroups cannot read in place, or only slowly.
template <class Types>
void pack_for_warpgroups(const gemm_problem<Types>& p, bool reads_a, bool reads_b, const tiling::shape& block,
                         const backend::simt::device_model& device, gemm_part& part) {
  const index_t most = std::max(most_to_pack<Types>(p.k, device), band_multiple);
  const double of_a = double(block.m) / (block.m + block.n);
  // Where all tiles divide k there are few: they fill the device without a copy, and bands would have fewer still.
  const bool can_align = (part.split.parts == 1 || part.split.whole_tiles > 0) &&
                         p.k >= device.least_k_to_pack && can_pack<Types>(p.k, device);
  part.pack_a = !reads_a || (can_align && most >= p.m && gains_from_alignment(p.a, p.n, of_a, device));
  part.pack_b = !reads_b || (can_align && most >= p.n && gains_from_alignment(p.b, p.m, 1 - of_a, device));
  pack_in_bands(p, device, part);
}

/// Calls `multiply(band, packed, in_use)` for bands of C, as they are and with operands that are packed as planned: in the first
/// `in_use` bytes of the queue's memory, behind which `besides` more are reserved for it.
template <class Exec, class Types, class Multiply>
void with_packed(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                 const gemm_part& part, tiling::direction along, std::size_t besides,
                 const Multiply& multiply) {
  using A = typename Types::a;
  using B = typename Types::b;
  const index_t band_m = std::min(part.band_m, p.m), band_n = std::min(part.band_n, p.n);
  const bool along_k = along == tiling::direction::k;
  const auto bytes = [&]<class T>(const T*, index_t band) {
    return sizeof(T) *
           (along_k ? packed_lines<Types> * packed_pitch<T>(p.k) * band : packed_pitch<T>(band) * p.k);
  };
  const std::size_t a_bytes = part.pack_a ? bytes(p.a.data, band_m) : 0;
  const std::size_t b_bytes = part.pack_b ? bytes(p.b.data, band_n) : 0;
  char* const to = memory.template reserve<char>(exec, a_bytes + b_bytes + besides);
  A* const to_a = reinterpret_cast<A*>(to);
  B* const to_b = reinterpret_cast<B*>(to + a_bytes);
  for (index_t m0 = 0; m0 < p.m; m0 += band_m)
    for (index_t n0 = 0; n0 < p.n; n0 += band_n) {
      const auto band = p.part(m0, n0, std::min(band_m, p.m - m0), std::min(band_n, p.n - n0));
      pack_task<A> a;
      pack_task<B> b;
      if (part.pack_a && n0 == 0) a = {band.a, to_a, band.m, p.k, along};
      if (part.pack_b && (m0 == 0 || band_n < p.n)) b = {band.b, to_b, band.n, p.k, along};
      if (a.teams + b.teams > 0) pack<Types>(exec, a, b, p.k);
      gemm_problem<Types> packed = band;
      const auto lies = [&]<class T>(tiling::operand<T>& x, index_t extent, const T* data, int& pad) {
        if (along_k && packs_lines<Types>) {
          x = tiling::lines<T>{extent}.as_operand(data, x);
        } else if (along_k) {
          x = {data, packed_pitch<T>(p.k), 1, x};
        } else {
          x = {data, 1, packed_pitch<T>(extent), x};
          pad = int(x.stride_k - extent);
        }
      };
      if (part.pack_a) lies(packed.a, band.m, to_a, packed.pad_m);
      if (part.pack_b) lies(packed.b, band.n, to_b, packed.pad_n);
      if (Types::splits_elements) packed.k = packed_lines<Types> * packed_pitch<typename Types::a>(p.k);
      multiply(band, packed, a_bytes + b_bytes);
    }
}

}  // namespace keramos::detail::simt
