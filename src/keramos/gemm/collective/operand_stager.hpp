// Staging on a GPU: every thread of the team copies its share of a k-tile from global memory into
// team scratch. Its layout there is its panel's type: what multiply reads in vectors along m and n
// is k-major whatever the layout it came from, so that transposes cost no more than plain layouts.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/fragment_panel.hpp>
#include <keramos/gemm/collective/k_tile_map.hpp>
#include <keramos/gemm/collective/panel.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Stages one operand's k-tiles of MN x K, in order, into panels whose rows run along `Rows`.
template <class Panel, class T, int MN, int K, int Threads, tiling::direction Along, tiling::direction Rows,
          int Vector, class Copier>
class operand_stager {
  static constexpr bool along_mn = Along == tiling::direction::mn;
  static_assert(Along == Rows || Vector == 1,
                "keramos: an operand is transposed on its way element by element");
  static constexpr int fast_extent = along_mn ? MN : K, slow_extent = along_mn ? K : MN;
  /// Whether rows begin anywhere but are copied 16 bytes at a time all the same, or in words where they are aligned to some.
  static constexpr bool shifts = Vector == 1 && Along == Rows && Copier::template shifts<T>;
  static constexpr int width =
      shifts ? 16 / int(sizeof(T)) : Vector;  ///< elements that a thread takes at a time
  static constexpr bool in_fragments = requires { typename Panel::in_fragments; };
  /// Elements of those that follow each other in the panel too.
  template <class P>
  static constexpr int together_in() {
    if constexpr (in_fragments)
      return P::together < width ? P::together : width;
    else
      return width;
  }
  static constexpr int together = together_in<Panel>();
  using map = k_tile_map<T, fast_extent, slow_extent, Threads, width, (Along != Rows || together < width),
                         Panel::most_of_row>;

 public:
  using panel = Panel;
  static constexpr bool by_registers = Vector == 1 && !shifts && Copier::template by_registers<T>;
  /// Whether copies that are known to lie inside the operand need no code of their own: of bytes that are shifted, in large tiles,
  /// it is as fast as the others'. (Not in tiles of 64 rows, nor of halves in words of 4 bytes.)
  static constexpr bool always_checks = shifts && sizeof(T) == 1 && map::passes_slow * map::passes_fast >= 4;

 private:
  static constexpr int local_fast = panel::most_of_row <= map::step_fast ? panel::column_stride
                                    : along_mn                           ? panel::stride_mn
                                                                         : panel::stride_k;
  static constexpr int local_slow = along_mn ? panel::stride_k : panel::stride_mn;
  /// Whether from pass to pass a thread's place moves by strides alone.
  static constexpr bool by_strides =
      !panel::swizzled || (Along == Rows && (map::passes_fast == 1 || panel::most_of_row <= map::step_fast) &&
                           (map::lanes_slow % panel::period == 0 || map::passes_slow == 1));
  static_assert(by_strides || sizeof(T) <= 2,
                "keramos: a thread's rows of a swizzled panel must all be swizzled alike");
  /// What a thread copies of a k-tile in words of 4 bytes, of which single elements take at least one each.
  static constexpr int words = Vector * int(sizeof(T)) < 4 ? 1 : Vector * int(sizeof(T)) / 4;
  static constexpr bool ahead =
      !map::partial && map::passes_slow * map::passes_fast * words <= Copier::most_words_ahead;
  static_assert(!in_fragments || (!shifts && !ahead), "keramos: fragments are stored as they are copied");
  struct nothing {};
  template <class C>
  static constexpr auto bounds_of() {
    if constexpr (shifts)
      return typename C::bounds();
    else
      return nothing();
  }
  template <class C>
  struct loaded {
    typename C::template vector<Vector* int(sizeof(T))> of_pass[map::passes_slow][map::passes_fast];
  };

 public:
  /// `extent` rows of the tile lie inside the operand, which has `mn_end` rows and `k_end` columns, and k-tiles before `k1`.
  KERAMOS_FORCEINLINE_FUNCTION operand_stager(const tiling::operand<T>& from, index_t mn0, index_t k0,
                                              int extent, index_t k1, [[maybe_unused]] index_t mn_end,
                                              [[maybe_unused]] index_t k_end, int thread)
      : thread_(thread),
        local_offset_(offset(map::fast(thread), map::slow(thread))),
        extent_(extent),
        // Known at compile time where it matters: vectors exist only of neighbours.
        stride_fast_(Vector > 1 || !along_mn ? 1 : from.stride_mn),
        k_left_(k1 - k0),
        global_(from.at(mn0 + (along_mn ? map::fast(thread) : map::slow(thread)),
                        k0 + (along_mn ? map::slow(thread) : map::fast(thread)))) {
    constexpr int rows = map::lanes_slow < slow_extent ? map::lanes_slow : slow_extent;
    const index_t pitch = along_mn ? from.stride_k : from.stride_mn;
    row_step_ = rows * pitch * index_t(sizeof(T));
    if constexpr (shifts) {
      if (Copier::copies_words) word_ = row_alignment(global_, stride_fast_, pitch);
      bounds_ = {along_mn ? mn_end - mn0 : k1 - k0, along_mn ? mn0 : k0, stride_fast_};
      if (pitch == (along_mn ? mn_end : k_end)) bounds_.rows_follow(from.data, from.data + mn_end * k_end);
    }
  }

  /// Begins to copy the next k-tile, which is all inside the operand: it is loaded into registers, if the copier says that they
  /// are enough, while another k-tile is multiplied. Then stage<true> stores them.
  KERAMOS_FORCEINLINE_FUNCTION void fetch() {
    if constexpr (ahead) {
      const T* row = global_;
      KERAMOS_UNROLL
      for (int ps = 0; ps < map::passes_slow; ++ps) {
        KERAMOS_UNROLL
        for (int pf = 0; pf < map::passes_fast; ++pf)
          held_.of_pass[ps][pf] = Copier::template load<Vector>(row + pf * map::step_fast * stride_fast_);
        if (along_mn || ps + 1 < map::passes_slow) row = Copier::advance(row, row_step_);
      }
      global_ = along_mn ? row : global_ + K;
    }
  }

  /// Copies k-tile number `k-tile`; every call is for the k-tile after the last one's. `Whole` promises that
  /// all of it lies inside the operand.
  template <bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void stage(T* local, [[maybe_unused]] int k_tile) {
    if constexpr (Whole && ahead) {
      store_fetched(local);
      return;
    }
    // What only the checked copy needs is not kept in registers between k-tiles.
    const int thread = Whole && !map::partial && by_strides && !shifts ? 0 : Copier::recompute(thread_);
    const int fast = map::fast(thread), slow = map::slow(thread);
    const index_t k_left = Whole ? 0 : k_left_ - index_t(k_tile) * K;
    const int k_end = int(k_left < K ? k_left : K);
    const int fast_end = (along_mn ? extent_ : k_end) - fast;
    const int slow_end = (along_mn ? k_end : extent_) - slow;
    const bool busy = !map::partial || slow < slow_extent;
    if constexpr (shifts) {
      if (word_ >= 8)
        stage_words<8>(local, fast, slow, Whole ? fast_extent : fast_end, Whole ? slow_extent : slow_end,
                       busy);
      else if (word_ == 4)
        stage_words<4>(local, fast, slow, Whole ? fast_extent : fast_end, Whole ? slow_extent : slow_end,
                       busy);
      else
        stage_shifted(local, fast, slow, Whole ? slow_extent : slow_end, along_mn ? 0 : index_t(k_tile) * K,
                      busy);
    } else if constexpr (by_registers) {
      stage_by_registers<Whole>(local, fast, slow, fast_end, slow_end, busy);
    } else {
      const T* row = global_;
      KERAMOS_UNROLL
      for (int ps = 0; ps < map::passes_slow; ++ps) {
        KERAMOS_UNROLL
        for (int pf = 0; pf < map::passes_fast; ++pf) {
          T* const to = local + place(fast, slow, ps, pf);
          const T* from = row + pf * map::step_fast * stride_fast_;
          if constexpr (Whole) {
            if (busy) copy(to, from);
          } else {
            const int left = ps * map::lanes_slow < slow_end ? fast_end - pf * map::step_fast : 0;
            if (busy) copy(to, from, left < 0 ? 0 : left < Vector ? left : Vector);
          }
        }
        if (along_mn || ps + 1 < map::passes_slow) row = Copier::advance(row, row_step_);
      }
      global_ =
          along_mn ? row : global_ + K;  // the rows of an operand along mn are k: row K is the next k-tile
    }
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static T prepared(const T& x) {
    if constexpr (in_fragments)
      return Panel::prepared(x);
    else
      return x;
  }
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* to, const T* from) {
    if constexpr (in_fragments)
      copy_in_pieces<Panel, Vector, together>(to, from, [](int i) KERAMOS_INLINED { return offset(i, 0); });
    else
      Copier::template copy<Vector>(to, from);
  }
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* to, const T* from, int valid) {
    if constexpr (in_fragments) {
      KERAMOS_UNROLL
      for (int i = 0; i < Vector; ++i) to[offset(i, 0)] = i < valid ? prepared(from[i]) : T(0);
    } else {
      Copier::template copy<Vector>(to, from, valid);
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION void store_fetched(T* local) {
    const int thread = by_strides ? 0 : thread_;
    KERAMOS_UNROLL
    for (int ps = 0; ps < map::passes_slow; ++ps) {
      KERAMOS_UNROLL
      for (int pf = 0; pf < map::passes_fast; ++pf)
        Copier::template store<Vector>(local + place(map::fast(thread), map::slow(thread), ps, pf),
                                       held_.of_pass[ps][pf]);
    }
  }

  /// Elements of rows that begin at multiples of `Bytes`, asynchronously.
  template <int Bytes>
  KERAMOS_FORCEINLINE_FUNCTION void stage_words(T* local, int fast, int slow, int fast_end, int slow_end,
                                                bool busy) {
    constexpr int word = Bytes / int(sizeof(T));
    const T* row = global_;
    KERAMOS_NO_UNROLL
    for (int ps = 0; ps < map::passes_slow; ++ps) {
      KERAMOS_UNROLL
      for (int pf = 0; pf < map::passes_fast; ++pf) {
        T* const to = local + place(fast, slow, ps, pf);
        const int left = ps * map::lanes_slow < slow_end ? fast_end - pf * map::step_fast : 0;
        KERAMOS_UNROLL
        for (int i = 0; i < width; i += word) {
          const int valid = left - i < 0 ? 0 : left - i < word ? left - i : word;
          if (busy) Copier::template copy<word>(to + i, row + pf * map::step_fast + i, valid);
        }
      }
      row = Copier::advance(row, row_step_);
    }
    global_ = along_mn ? row : global_ + K;
  }

  /// Elements of rows that begin anywhere, 16 bytes at a time, of the tile's columns from `column` on. Some are on their way
  /// before the first is stored.
  KERAMOS_FORCEINLINE_FUNCTION void stage_shifted(T* local, int fast, int slow, int slow_end, index_t column,
                                                  bool busy) {
    constexpr int at_once = map::passes_fast == 1 && map::passes_slow > 1 ? 2 : 1;
    static_assert(map::passes_slow % at_once == 0);
    const T* row = global_;
    KERAMOS_NO_UNROLL
    for (int s = 0; s < map::passes_slow; s += at_once) {
      typename Copier::template shifted<T> run[at_once][map::passes_fast];
      KERAMOS_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const bool there = busy && (s + i) * map::lanes_slow < slow_end;
        KERAMOS_UNROLL
        for (int pf = 0; pf < map::passes_fast; ++pf)
          if (there)
            run[i][pf].load(row + pf * map::step_fast * stride_fast_, column + fast + pf * map::step_fast,
                            bounds_);
        row = Copier::advance(row, row_step_);
      }
      KERAMOS_UNROLL
      for (int i = 0; i < at_once; ++i) {
        KERAMOS_UNROLL
        for (int pf = 0; pf < map::passes_fast; ++pf)
          if (busy) run[i][pf].store(local + place(fast, slow, s + i, pf));
      }
    }
    global_ = along_mn ? row : global_ + K;
  }

  /// Elements that cannot be copied asynchronously, one by one: about eight are on their way before the first is stored,
  /// since a compiler that cannot tell the two memories apart would wait for each.
  template <bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void stage_by_registers(T* local, int fast, int slow, int fast_end,
                                                       int slow_end, bool busy) {
    constexpr int at_once = map::passes_fast >= 8                      ? 1
                            : map::passes_fast * map::passes_slow <= 8 ? map::passes_slow
                                                                       : 8 / map::passes_fast;
    static_assert(map::passes_slow % at_once == 0);
    const T* row = global_;
    const auto stage = [&](int first) {
      T element[at_once][map::passes_fast];
      KERAMOS_UNROLL
      for (int s = 0; s < at_once; ++s) {
        KERAMOS_UNROLL
        for (int pf = 0; pf < map::passes_fast; ++pf) {
          const bool there =
              busy && (Whole || ((first + s) * map::lanes_slow < slow_end && pf * map::step_fast < fast_end));
          element[s][pf] = there ? row[pf * map::step_fast * stride_fast_] : T(0);
        }
        row = Copier::advance(row, row_step_);
      }
      KERAMOS_UNROLL
      for (int s = 0; s < at_once; ++s) {
        const int ps = first + s;
        KERAMOS_UNROLL
        for (int pf = 0; pf < map::passes_fast; ++pf)
          if (busy) local[place(fast, slow, ps, pf)] = prepared(element[s][pf]);
      }
    };
    // Unrolled, the many bytes of large tiles would be most of a kernel's code; narrow tiles are slower with a loop.
    if constexpr (map::passes_slow > Copier::template most_groups_unrolled<T> * at_once) {
      KERAMOS_NO_UNROLL
      for (int first = 0; first < map::passes_slow; first += at_once) stage(first);
    } else {
      KERAMOS_UNROLL
      for (int first = 0; first < map::passes_slow; first += at_once) stage(first);
    }
    global_ = along_mn ? row : global_ + K;
  }

  /// Where a pass puts what it copies; `fast` and `slow` are the thread's of its first one.
  KERAMOS_FORCEINLINE_FUNCTION int place(int fast, int slow, int ps, int pf) const {
    if constexpr (in_fragments) {
      static_assert(std::has_single_bit(unsigned(panel::size)) && std::has_single_bit(unsigned(Threads)));
      return local_offset_ + offset(pf * map::step_fast, ps * map::lanes_slow);
    } else {
      return by_strides ? local_offset_ + ps * map::lanes_slow * local_slow + pf * map::step_fast * local_fast
                        : offset(fast + pf * map::step_fast, slow + ps * map::lanes_slow);
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION static int offset(int fast, int slow) {
    return along_mn ? panel::offset(fast, slow) : panel::offset(slow, fast);
  }

  int thread_;
  int local_offset_;  // of this thread's first element
  int extent_;
  index_t stride_fast_;
  index_t row_step_;  // bytes from pass to pass
  index_t k_left_;
  const T* global_;
  std::conditional_t<ahead, loaded<Copier>, nothing> held_;  // what fetch loaded (passes)
  decltype(bounds_of<Copier>()) bounds_{};
  int word_ = 0;  // bytes that can be copied at once, if such elements are
};

}  // namespace keramos::detail::simt
