// The kernel of the scans: one pass over the array, in which each tile's sum is published for the tiles behind
// it (after Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA
// NVR-2016-002). Internal.
//
// Groups stay and take tile after tile. Each is at work on three: one is on its way from memory; one is summed
// up, and its sum published; and the one before that gets the sum of all that came before it, and is written.
// So a tile's sum is out for a whole round before the tiles behind it ask for it, and hardly anybody waits
// (groups that ask as soon as their own sum is out spend half their time waiting for that of the tile before).
// What is waited for is a sum of a tile that another group has begun, and sums are published without waiting:
// any number of groups, started in any order, comes to an end.
#pragma once

#include <bit>
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

  static constexpr bool is_host = backend::traits<Exec>::is_host;
  static constexpr int items = is_host || sizeof(T) <= 128 ? 256 : sizeof(T) <= 256 ? 128 : 64;
  static constexpr int groups_per_unit = 2;
  static constexpr int per_item = sizeof(T) > 48   ? 1
                                  : sizeof(T) > 24 ? 2
                                  : sizeof(T) < 4  ? 32
                                                   : int(std::bit_floor(128 / sizeof(T)));
  static constexpr int tile = items * per_item;

  /// An element's room behind each item's own elements keeps items off each other's banks.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int place(int i) {
    return is_host || per_item == 1 ? i : i + int(unsigned(i) / per_item);
  }
  /// From an element that an item copies to its next.
  static constexpr int stride = place(items);
  static_assert(items % per_item == 0);
  using tile_type = local_array<T, place(tile - 1) + 1>;
  using group_type = group<local_range<items>, local_memory<tile_type>, Exec>;
  static_assert(is_host || sizeof(tile_type) <= backend::traits<Exec>::sure_local_bytes,
                "keramos: scans on GPUs take elements of at most 512 bytes");

  // A published sum, in words of 32 bits: the bit above each says that it is there, so that no order between
  // memory accesses is needed.
  static constexpr int words = int((sizeof(value_type) + 3) / 4);
  static constexpr unsigned long long there = 1ull << 32;

  const In* x;
  T* y;
  index_t n, x_step, y_step;
  Op op;
  value_type init;
  index_t tiles;
  unsigned long long* status;  // (tiles, words), then the number of tiles taken

  struct loaded {
    In value[per_item];
  };
  struct chunk {
    T value[per_item];
  };
  /// A tile that is summed up: of each item's elements, and what all items left of it come to.
  struct sums {
    private_array<chunk, group_type> own;
    private_array<value_type, group_type> left;
  };

  /// Any number of groups is right; this is what the machine holds at once.
  static index_t groups(const Exec& exec) {
    const index_t threads = exec.concurrency();
    const index_t resident = is_host ? threads : threads / (4 * items);  // at 2048 threads a multiprocessor
    return resident < 1 ? 1 : resident;
  }

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group_type& g) const {
    auto ticket = g.make_private(index_t(0));
    auto ahead = g.make_private(loaded{});
    sums present{g.make_private(chunk{}), g.make_private(sum::nothing())}, last = present;
    take(g, ticket);
    index_t summed = group_broadcast(g, ticket), written = -1, known = 0;
    value_type before = init;  // the sum of init and all tiles before `known`
    if (summed < tiles) load(g, summed, ahead);
    for (bool more = true; more;) {
      more = summed < tiles;
      index_t next = tiles;
      if (more) {
        take(g, ticket);
        put(g, ahead);
        g.barrier();
        next = group_broadcast(g, ticket);
        if (next < tiles) load(g, next, ahead);
        sum_up(g, summed, present);
        g.barrier();
      }
      if (written >= 0) {
        before = look_back(g, before, known, written);
        known = written;
        finish(g, before, last);
        g.barrier();
        if (plain(written))
          write<true>(g, written);
        else
          write<false>(g, written);
        g.barrier();
      }
      last = present;
      written = summed, summed = next;
    }
  }

 private:
  /// Item 0 gets the next tile.
  KERAMOS_FORCEINLINE_FUNCTION void take(group_type& g, private_array<index_t, group_type>& ticket) const {
    auto* const taken = status + tiles * words;
    g.parallel_for_work_item(
        [=](h_item it, index_t& t) {
          if (it.i == 0) t = index_t(atomic_ref(*taken).fetch_add(1ull));
        },
        ticket);
  }

  /// How many elements the tile has; whether it is whole and without strides.
  KERAMOS_FORCEINLINE_FUNCTION int count(index_t at) const {
    const index_t left = n - at * tile;
    return left < tile ? int(left) : tile;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool plain(index_t at) const {
    return count(at) == tile && x_step == 1 && y_step == 1;
  }

  /// The tile's elements, along memory. Behind the end the last element again, which reaches nothing.
  KERAMOS_FORCEINLINE_FUNCTION void load(group_type& g, index_t at,
                                         private_array<loaded, group_type>& to) const {
    if (plain(at))
      load<true>(g, at, to);
    else
      load<false>(g, at, to);
  }
  template <bool Plain>
  KERAMOS_FORCEINLINE_FUNCTION void load(group_type& g, index_t at,
                                         private_array<loaded, group_type>& to) const {
    const index_t step = Plain ? 1 : x_step;
    const In* const from = x + at * tile * step;
    const int count = this->count(at);
    g.parallel_for_work_item(
        [=](h_item it, loaded& v) {
          KERAMOS_UNROLL
          for (int e = 0; e < per_item; ++e) {
            const int i = e * items + it.i;
            v.value[e] = from[(Plain || i < count ? i : count - 1) * step];
          }
        },
        to);
  }
  KERAMOS_FORCEINLINE_FUNCTION static void put(group_type& g, private_array<loaded, group_type>& from) {
    const auto local = g.template local<0>();
    g.parallel_for_work_item(
        [=](h_item it, loaded& v) {
          KERAMOS_UNROLL
          for (int e = 0; e < per_item; ++e) local[place(it.i) + e * stride] = static_cast<T>(v.value[e]);
        },
        from);
  }

  /// The tile in local memory; the last item publishes its sum.
  KERAMOS_FORCEINLINE_FUNCTION void sum_up(group_type& g, index_t at, sums& s) const {
    const auto k = *this;
    const auto combine = sum::lift(op);
    const auto local = g.template local<0>();
    auto total = g.make_private(sum::nothing());
    g.parallel_for_work_item(
        [=](h_item it, chunk& c, value_type& t) {
          const int first = place(it.i * per_item);
          c.value[0] = local[first];
          KERAMOS_UNROLL
          for (int e = 1; e < per_item; ++e) c.value[e] = k.op(c.value[e - 1], local[first + e]);
          t = sum::of(c.value[per_item - 1]);
        },
        s.own, total);
    s.left = exclusive_scan_over_group(g, total, sum::nothing(), combine);
    g.parallel_for_work_item(
        [=](h_item it, value_type& t, value_type& left) {
          if (it.i == items - 1) k.publish(at, combine(left, t));
        },
        total, s.left);
  }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of padding, which goes along and is not looked at
#endif
  KERAMOS_FORCEINLINE_FUNCTION void publish(index_t at, const value_type& value) const {
    unsigned word[words] = {};
    ::memcpy(word, &value, sizeof(value));
    KERAMOS_UNROLL
    for (int w = 0; w < words; ++w) atomic_ref(status[at * words + w]).store(there | word[w]);
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  /// `before` and the sums of tiles first ... last - 1: each item's share of them in order, then the shares. (A
  /// reduction of as many values as threads, or of one, keeps the order.)
  KERAMOS_FORCEINLINE_FUNCTION value_type look_back(group_type& g, const value_type& before, index_t first,
                                                    index_t last) const {
    static_assert(is_host || group_type::items_per_thread == 1);
    const auto k = *this;
    const auto combine = sum::lift(op);
    const index_t share = is_host ? last - first : (last - first + items - 1) / items;
    auto seen = g.make_private(sum::nothing());
    g.parallel_for_work_item(
        [=](h_item it, value_type& v) {
          const index_t begin = first + it.i * share, end = begin + share < last ? begin + share : last;
          for (index_t t = begin; t < end; t += 2) v = combine(v, k.pair(t, end));
        },
        seen);
    return combine(before, reduce_over_group(g, seen, combine));
  }
  /// The sums of tiles t and t + 1, if that is before `end`, asked for together.
  KERAMOS_FORCEINLINE_FUNCTION value_type pair(index_t t, index_t end) const {
    unsigned long long word[2][words] = {};
    const int count = t + 1 < end ? 2 : 1;
    for (bool all = false; !all;) {
      all = true;
      KERAMOS_UNROLL
      for (int b = 0; b < 2; ++b) {
        KERAMOS_UNROLL
        for (int w = 0; w < words; ++w)
          if (b < count && word[b][w] < there) word[b][w] = atomic_ref(status[(t + b) * words + w]).load();
      }
      KERAMOS_UNROLL
      for (int b = 0; b < 2; ++b) {
        KERAMOS_UNROLL
        for (int w = 0; w < words; ++w) all = all && (b >= count || word[b][w] >= there);
      }
    }
    const value_type first = value(word[0]);
    return count == 1 ? first : sum::lift(op)(first, value(word[1]));
  }
  KERAMOS_FORCEINLINE_FUNCTION static value_type value(const unsigned long long (&word)[words]) {
    unsigned half[words];
    KERAMOS_UNROLL
    for (int w = 0; w < words; ++w) half[w] = unsigned(word[w]);
    value_type v;
    ::memcpy(&v, half, sizeof(v));
    return v;
  }

  /// The tile's results into local memory.
  KERAMOS_FORCEINLINE_FUNCTION void finish(group_type& g, const value_type& before, sums& s) const {
    const auto combine = sum::lift(op);
    const auto local = g.template local<0>();
    g.parallel_for_work_item(
        [=](h_item it, chunk& c, value_type& left) {
          const value_type start = combine(before, left);
          const int first = place(it.i * per_item);
          KERAMOS_UNROLL
          for (int e = 0; e < per_item; ++e) {
            const value_type through = Inclusive ? combine(start, sum::of(c.value[e]))
                                       : e == 0  ? start
                                                 : combine(start, sum::of(c.value[e - (e > 0)]));
            local[first + e] = sum::value(through);
          }
        },
        s.own, s.left);
  }

  template <bool Plain>
  KERAMOS_FORCEINLINE_FUNCTION void write(group_type& g, index_t at) const {
    const index_t step = Plain ? 1 : y_step;
    T* const to = y + at * tile * step;
    const int count = this->count(at);
    const auto local = g.template local<0>();
    g.parallel_for_work_item([=](h_item it) {
      KERAMOS_UNROLL
      for (int e = 0; e < per_item; ++e) {
        const int i = e * items + it.i;
        if (Plain || i < count) to[i * step] = local[place(it.i) + e * stride];
      }
    });
  }
};

}  // namespace keramos::detail
