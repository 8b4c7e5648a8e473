// The kernel of the scans: one pass with decoupled look-back (Merrill and Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002). Internal.
//
// Each group takes the next tile of the array, publishes the sum of the tile, and looks back over what the
// tiles before have published until it meets one that knows all that came before. Tiles are taken in the
// order in which groups start, so that those a group waits for have started too.
#pragma once

#include <cstring>
#include <type_traits>

#include <keramos/algorithm/maybe.hpp>
#include <keramos/core/atomic_ref.hpp>
#include <keramos/core/group_algorithms.hpp>

namespace keramos::detail {

struct reset_words {
  unsigned long long* word;
  KERAMOS_FORCEINLINE_FUNCTION void operator()(index_t i) const { word[i] = 0; }
};

template <class Exec, class In, class T, class Op, bool Inclusive>
struct scan_kernel {
  using sum = summation<T, Op>;
  using value_type = typename sum::value_type;
  static_assert(std::is_trivially_copyable_v<value_type>, "keramos: scans take trivially copyable types");

  static constexpr int items = 256;
  static constexpr int groups_per_unit = 3;
  static constexpr int per_item = sizeof(T) <= 4 ? 16 : sizeof(T) <= 8 ? 8 : 4;
  static constexpr int tile = items * per_item;
  static constexpr bool is_host = backend::traits<Exec>::is_host;
  /// Tiles looked back on at once: a host's group is one thread.
  static constexpr int window = is_host ? 1 : items;
  /// One element behind each 128 bytes keeps items off each other's banks.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int place(int i) {
    return is_host ? i : i + i / (sizeof(T) < 128 ? int(128 / sizeof(T)) : 1);
  }
  using tile_type = local_array<T, place(tile - 1) + 1>;
  using group_type = group<local_range<items>, local_memory<tile_type>, Exec>;

  // What a tile has published, in words of 32 bits: each carries the state above it, so that a word tells
  // by itself whether it is there, and no order between memory accesses is needed.
  static constexpr int words = int((sizeof(value_type) + 3) / 4);
  enum state : unsigned { nothing = 0, own = 1, all = 2 };

  const In* x;
  T* y;
  index_t n, x_step, y_step;
  Op op;
  value_type init;
  unsigned long long* status;  // (tiles, words), then the number of tiles taken

  struct chunk {
    T value[per_item];
  };
  struct found {
    value_type value;
    unsigned is;
  };

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of padding, which goes along and is not looked at
#endif
  KERAMOS_FORCEINLINE_FUNCTION void publish(index_t at, const value_type& value, state s) const {
    unsigned word[words] = {};
    std::memcpy(word, &value, sizeof(value));
    KERAMOS_UNROLL
    for (int w = 0; w < words; ++w)
      atomic_ref(status[at * words + w]).store((unsigned long long)(s) << 32 | word[w]);
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  KERAMOS_FORCEINLINE_FUNCTION found wait_for(index_t at) const {
    unsigned word[words] = {};
    unsigned is = nothing;
    while (is == nothing) {
      KERAMOS_UNROLL
      for (int w = 0; w < words; ++w) {
        const unsigned long long got = atomic_ref(status[at * words + w]).load();
        word[w] = unsigned(got);
        const unsigned s = unsigned(got >> 32);
        is = w == 0 || is == s ? s : unsigned(nothing);  // half of one value and half of the next: again
      }
    }
    found f;
    f.is = is;
    std::memcpy(&f.value, word, sizeof(f.value));
    return f;
  }

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group_type& g) const {
    const auto k = *this;
    const auto combine = sum::lift(op);
    const auto local = g.template local<0>();
    const index_t tiles = g.get_group_range(0);

    auto ticket = g.make_private(0);
    g.parallel_for_work_item(
        [=](h_item it, int& t) {
          if (it.i == 0) t = int(atomic_ref(k.status[tiles * words]).fetch_add(1ull));
        },
        ticket);
    const index_t at = group_broadcast(g, ticket);
    const index_t base = at * tile, left = n - base;

    // In, along memory; behind the end the last element again, which reaches nothing.
    KERAMOS_UNROLL
    for (int e = 0; e < per_item; ++e)
      g.parallel_for_work_item([=](h_item it) {
        const int i = e * items + it.i;
        local[place(i)] = static_cast<T>(k.x[(base + (i < left ? i : left - 1)) * k.x_step]);
      });
    g.barrier();

    // Scans of each item's neighbours, then of the items.
    auto mine = g.make_private(chunk{});
    auto total = g.make_private(sum::nothing());
    g.parallel_for_work_item(
        [=](h_item it, chunk& c, value_type& t) {
          c.value[0] = local[place(it.i * per_item)];
          KERAMOS_UNROLL
          for (int e = 1; e < per_item; ++e)
            c.value[e] = k.op(c.value[e - 1], local[place(it.i * per_item + e)]);
          t = sum::of(c.value[per_item - 1]);
        },
        mine, total);
    auto scan = exclusive_scan_and_total(g, total, sum::nothing(), combine);
    const value_type aggregate = scan.total;

    const value_type before = at == 0 ? init : look_back(g, at, aggregate);
    const value_type through = combine(before, aggregate);
    g.parallel_for_work_item([=](h_item it) {
      if (it.i == 0) k.publish(at, through, all);
    });

    g.parallel_for_work_item(
        [=](h_item it, chunk& c, value_type& b) {
          const value_type start = combine(before, b);
          KERAMOS_UNROLL
          for (int e = 0; e < per_item; ++e) {
            const value_type here = Inclusive ? combine(start, sum::of(c.value[e]))
                                    : e == 0  ? start
                                              : combine(start, sum::of(c.value[e - (e > 0)]));
            local[place(it.i * per_item + e)] = sum::value(here);
          }
        },
        mine, scan.before);
    g.barrier();
    KERAMOS_UNROLL
    for (int e = 0; e < per_item; ++e)
      g.parallel_for_work_item([=](h_item it) {
        const int i = e * items + it.i;
        if (i < left) k.y[(base + i) * k.y_step] = local[place(i)];
      });
  }

  /// The sum of init and all before tile `at`.
  KERAMOS_FORCEINLINE_FUNCTION value_type look_back(group_type& g, index_t at,
                                                    const value_type& aggregate) const {
    const auto k = *this;
    const auto combine = sum::lift(op);
    g.parallel_for_work_item([=](h_item it) {
      if (it.i == 0) k.publish(at, aggregate, own);
    });
    value_type before = sum::nothing();
    auto value = g.make_private(sum::nothing());
    auto nearest = g.make_private(-1);  // of the tiles that know all before them: the latest
    for (index_t end = at;; end -= window) {
      // Item i looks at tile end - window + i, so that the scan below sums them in order.
      g.parallel_for_work_item(
          [=](h_item it, value_type& v, int& near) {
            const index_t other = end - window + it.i;
            v = sum::nothing();
            near = -1;
            if (it.i >= window || other < 0) return;
            const found f = k.wait_for(other);
            v = f.value;
            if (f.is == all) near = it.i;
          },
          value, nearest);
      const int from = reduce_over_group(g, nearest, maximum{});
      g.parallel_for_work_item(
          [=](h_item it, value_type& v) {
            if (it.i < from) v = sum::nothing();
          },
          value);
      before = combine(exclusive_scan_and_total(g, value, sum::nothing(), combine).total, before);
      if (from >= 0) return before;
    }
  }
};

}  // namespace keramos::detail
