// Wavefronts of AMD's GPUs that take turns to multiply and to load (gemm/collective/ping_pong.hpp). What each does is noted from
// the kernel's own loop. First the order of all is looked at; then a team of them computes tiles with emulated matrix units and
// memories, in many of the orders that the meetings allow. Both find out if a meeting or a wait is left away.
#include <Kokkos_Core.hpp>

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/collective/direct_copy.hpp>
#include <keramos/gemm/collective/ping_pong.hpp>
#include <keramos/gemm/collective/wave_mma.hpp>
#include <keramos/gemm/collective/wave_panel.hpp>
#include <keramos/keramos.hpp>

#include "amd_gpu.hpp"
#include "gemm_case.hpp"
#include "k_tile.hpp"

namespace keramos {

namespace test {

/// A lane's copy to local memory that is under way.
struct copy_of_lane {
  char* to;
  const char* from;
  std::size_t number;  // of the instruction
};
/// Where copies go: those of a lane of a wavefront, which fills `bytes` from where the wavefront begins.
struct copies_under_way {
  std::vector<copy_of_lane>* of_wave;
  std::size_t begun;  // by the wavefront before
  int lane, bytes;
  std::vector<char*> first{};  // of the wavefront: what lane 0 said
  std::size_t next = 0;
};
inline copies_under_way* copying = nullptr;

}  // namespace test

namespace backend {

template <hip::matrix_units Units, int DirectBytes>
struct staging<test::amd_gpu<Units, DirectBytes>> : simt::plain_copier {
  static constexpr int direct_bytes = DirectBytes;
  static void copy_direct(char* local, const char* global, std::uint32_t offset) {
    test::copies_under_way& all = *test::copying;
    if (all.lane == 0) all.first.push_back(local);
    ASSERT_EQ(local, all.first[all.next]) << "lanes of a wavefront name one place";
    all.of_wave->push_back({local + all.lane * DirectBytes, global + offset, all.begun + all.next++});
  }
};

}  // namespace backend

namespace test {
namespace {

using detail::simt::meeting;
using tiling::direction;

using detail::simt::copy_counts;

struct act {
  enum kind { copy, next, wait, load, multiply, meet } what;
  int slot = 0, cluster = 0;  // of copies the last cluster that reads them
  int ahead = 0, left = 0;    // of a copy, and of a wait
  meeting where = meeting::start;
};
using acts = std::vector<act>;

/// Notes what the loop asks of a wavefront.
template <copy_counts Copies>
struct noting_wave {
  static constexpr auto copies = Copies;
  bool second;
  acts noted{};
  bool is_second() const { return second; }
  void copy(int last, int slot, int ahead) { noted.push_back({act::copy, slot, last, ahead}); }
  void next_k_tile() { noted.push_back({act::next}); }
  template <int Left>
  void wait_for_copies() {
    noted.push_back({act::wait, 0, 0, 0, Left});
  }
  void load(int slot, int cluster) { noted.push_back({act::load, slot, cluster}); }
  void multiply(int cluster) { noted.push_back({act::multiply, 0, cluster}); }
  void meet(meeting where) { noted.push_back({act::meet, 0, 0, 0, 0, where}); }
};
template <copy_counts Copies>
constexpr int clusters_of = int(std::size(Copies.of));
template <copy_counts Copies>
std::vector<acts> acts_of_halves(int k_tiles) {
  std::vector<acts> halves;
  for (const bool second : {false, true}) {
    noting_wave<Copies> wave{second};
    detail::simt::ping_pong<clusters_of<Copies>>(wave, k_tiles);
    halves.push_back(wave.noted);
  }
  return halves;
}
void leave_out(std::vector<acts>& halves, const std::function<bool(const act&)>& which) {
  for (acts& of_half : halves) std::erase_if(of_half, which);
}

/// When a half's wavefronts do what, counted in meetings before.
struct schedule {
  struct copied {
    int slot, k_tile, first, last, begun, there;
    bool is_read_by(int cluster) const { return first <= cluster && cluster <= last; }
  };
  struct read {
    int slot, k_tile, cluster, when;
  };
  std::vector<copied> copies;
  std::vector<read> loads;
  std::vector<int> products;
  int meetings = 0;

  template <int Clusters>
  schedule(const acts& of_half, const copy_counts<Clusters>& counts) {
    constexpr int never = 1 << 30, clusters = Clusters;
    int k_tile = 0;
    for (const act& a : of_half) {
      if (a.what == act::copy)
        for (int first = 0; first < clusters; ++first)
          for (int n = counts.of[first][a.cluster]; n > 0; --n)
            copies.push_back({a.slot, k_tile + a.ahead, first, a.cluster, meetings, never});
      if (a.what == act::next) ++k_tile;
      if (a.what == act::wait)
        for (int i = 0; i + a.left < int(copies.size()); ++i)
          copies[i].there = std::min(copies[i].there, meetings);
      if (a.what == act::load) loads.push_back({a.slot, int(loads.size()) / clusters, a.cluster, meetings});
      if (a.what == act::multiply) products.push_back(meetings);
      if (a.what == act::meet) ++meetings;
    }
  }
};

/// What could go wrong in some order that the meetings allow; nothing if all is well. Between the same two meetings what
/// different wavefronts do has no order. Copies arrive at any time until they are waited for.
template <int Clusters>
std::string flaw_of(const std::vector<acts>& halves, const copy_counts<Clusters>& counts, int k_tiles) {
  constexpr int clusters = Clusters;
  const schedule all[] = {{halves[0], counts}, {halves[1], counts}};
  if (all[0].meetings != all[1].meetings) return "some wait for ever";
  for (const schedule& reader : all) {
    if (int(reader.loads.size()) != k_tiles * clusters)
      return "other loads than of each cluster of each k-tile";
    for (std::size_t i = 0; i < reader.loads.size(); ++i) {
      const schedule::read& load = reader.loads[i];
      if (load.cluster != int(i) % clusters) return "clusters are loaded in another order";
      if (i >= reader.products.size() || reader.products[i] <= load.when)
        return "a half loads and multiplies at once";
      if (i > 0 && load.when <= reader.products[i - 1]) return "a half multiplies and loads at once";
      for (const schedule& writer : all)
        for (const schedule::copied& copy : writer.copies) {
          if (!copy.is_read_by(load.cluster)) continue;
          if (copy.k_tile == load.k_tile && (copy.slot != load.slot || copy.there >= load.when))
            return "a k-tile is read too early";
          if (copy.k_tile != load.k_tile && copy.slot == load.slot && copy.begun <= load.when &&
              copy.there >= load.when)
            return "a k-tile is copied to where another is read";
          if (copy.k_tile > load.k_tile && copy.slot == load.slot && copy.begun <= load.when)
            return "a k-tile is gone";
        }
    }
    for (int s = 0; s < k_tiles; ++s)
      for (int first = 0; first < clusters; ++first)
        for (int last = 0; last < clusters; ++last)
          if (std::count_if(reader.copies.begin(), reader.copies.end(), [&](const schedule::copied& c) {
                return c.k_tile == s && c.first == first && c.last == last;
              }) != counts.of[first][last])
            return "not every k-tile is copied once";
    if (int(reader.copies.size()) !=
        k_tiles * std::accumulate(&counts.of[0][0], &counts.of[0][0] + clusters * clusters, 0))
      return "more is copied than there is";
  }
  for (const int when : all[0].products)
    if (std::count(all[1].products.begin(), all[1].products.end(), when) > 0)
      return "both halves multiply at once";
  return "";
}
template <copy_counts Copies>
std::string flaw_without(int k_tiles, const std::function<bool(const act&)>& which) {
  auto halves = acts_of_halves<Copies>(k_tiles);
  leave_out(halves, which);
  return flaw_of(halves, Copies, k_tiles);
}
/// If waits leave one copy more.
template <copy_counts Copies>
std::string flaw_of_less_waiting(int k_tiles) {
  auto halves = acts_of_halves<Copies>(k_tiles);
  for (acts& of_half : halves)
    for (act& a : of_half)
      if (a.what == act::wait && a.left > 0) ++a.left;
  return flaw_of(halves, Copies, k_tiles);
}
/// How many meetings a copy has at least to arrive in, but for those before the first product.
template <copy_counts Copies>
int shortest_way() {
  int least = 1 << 30;
  for (const acts& of_half : acts_of_halves<Copies>(16))
    for (const schedule::copied& c : schedule(of_half, Copies).copies)
      if (c.k_tile > 1 && c.k_tile < 14) least = std::min(least, c.there - c.begun);
  return least;
}

// Of f16: gfx942's tiles, with A along k and along m, and gfx950's with A along k. Then all that the last cluster reads.
constexpr copy_counts<2> a_along_k{{{8, 0}, {0, 4}}}, a_along_m{{{4, 8}, {0, 0}}},
    at_the_end{{{0, 12}, {0, 0}}};
constexpr copy_counts<4> four_along_k{{{0, 0, 6, 0}, {0, 0, 0, 2}, {}, {}}},
    four_along_mn{{{2, 2, 0, 0}, {}, {0, 0, 2, 2}, {}}};
auto meetings_at(meeting where) {
  return [where](const act& a) { return a.what == act::meet && a.where == where; };
}

TEST(PingPong, NothingIsReadTooEarlyNorOverwritten) {
  const auto none = [](const act&) { return false; };
  for (int k_tiles = 1; k_tiles < 8; ++k_tiles) {
    EXPECT_EQ(flaw_without<a_along_k>(k_tiles, none), "") << k_tiles;
    EXPECT_EQ(flaw_without<a_along_m>(k_tiles, none), "") << k_tiles;
    EXPECT_EQ(flaw_without<at_the_end>(k_tiles, none), "") << k_tiles;
    EXPECT_EQ(flaw_without<four_along_k>(k_tiles, none), "") << k_tiles;
    EXPECT_EQ(flaw_without<four_along_mn>(k_tiles, none), "") << k_tiles;
  }
}
TEST(PingPong, WaitsLeaveNoCopyMoreThanTheyMay) {
  EXPECT_EQ(flaw_of_less_waiting<a_along_k>(6), "a k-tile is read too early");
  EXPECT_EQ(flaw_of_less_waiting<a_along_m>(6), "a k-tile is read too early");
  EXPECT_EQ(flaw_of_less_waiting<four_along_k>(6), "a k-tile is read too early");
}
// A cluster is two meetings.
TEST(PingPong, CopiesHaveTimeToArrive) {
  EXPECT_EQ(shortest_way<at_the_end>(), 2);
  EXPECT_EQ(shortest_way<a_along_m>(), 2);
  EXPECT_EQ(shortest_way<a_along_k>(), 4);
  EXPECT_EQ(shortest_way<four_along_k>(), 8);
}
TEST(PingPong, EachMeetingAndWaitIsNeeded) {
  EXPECT_EQ(flaw_without<at_the_end>(4, meetings_at(meeting::start)), "a k-tile is read too early");
  EXPECT_EQ(flaw_without<at_the_end>(4, meetings_at(meeting::apart)), "some wait for ever");
  EXPECT_EQ(flaw_without<at_the_end>(4, meetings_at(meeting::together)), "some wait for ever");
  EXPECT_EQ(flaw_without<at_the_end>(4, meetings_at(meeting::loaded)), "a half loads and multiplies at once");
  EXPECT_EQ(flaw_without<at_the_end>(4, meetings_at(meeting::multiplied)),
            "a half multiplies and loads at once");
  EXPECT_EQ(flaw_without<at_the_end>(4, [](const act& a) { return a.what == act::wait; }),
            "a k-tile is read too early");
  EXPECT_EQ(
      flaw_without<at_the_end>(
          4,
          [](const act& a) { return meetings_at(meeting::apart)(a) || meetings_at(meeting::together)(a); }),
      "both halves multiply at once");
  const auto waits = [](const act& a) { return a.what == act::wait; };
  EXPECT_EQ(flaw_without<a_along_k>(4, waits), "a k-tile is read too early");
  EXPECT_EQ(flaw_without<four_along_k>(4, waits), "a k-tile is read too early");
  EXPECT_EQ(flaw_without<a_along_k>(4, meetings_at(meeting::start)), "a k-tile is read too early");
  EXPECT_EQ(flaw_without<four_along_k>(4, meetings_at(meeting::loaded)),
            "a half loads and multiplies at once");
}

/// In which order a team does what it may: which wavefront goes on, and when copies arrive.
struct order {
  enum wavefronts { first, last, any } next;
  enum arrivals { at_once, any_time, late } copies;
};

/// A team of eight wavefronts with k-tiles of A and B in memory of its own, and C.
template <class Types, tiling::config Config, class Gpu, direction A, direction B>
class team {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  static constexpr tiling::shape block = Config.block;
  static constexpr int lanes = 64, waves = Config.warps(), threads = waves * lanes;
  static constexpr int vector = 16 / int(sizeof(E)), pitch_beyond = 3 * vector;
  static_assert(waves == 8);
  using copier = backend::staging<Gpu>;
  using stager =
      detail::simt::stager<Types, Config, detail::simt::access{A, vector}, A, detail::simt::access{B, vector},
                           B, threads, copier, detail::simt::wave_panel, detail::simt::wave_panel>;

 public:
  using accumulator = detail::simt::wave_mma_accumulator<Types, Config, Gpu, A, B>;

 private:
  using copies_type = detail::simt::direct_copies<Types, Config, A, B, threads, Gpu, stager, accumulator>;

 public:
  static constexpr auto counts = copies_type::template counts<copy_counts<accumulator::clusters>>();

  team(int k_tiles, const tiling::reading<E>& read_a, const tiling::reading<E>& read_b)
      : k_tiles_(k_tiles),
        random_(std::mt19937::result_type(fresh_seed())),
        c_(block.m * block.n / 4),
        local_(2 * stager::slot_bytes / 16) {
    for (int s = 0; s < k_tiles; ++s) {
      of_a_.emplace_back(read_a, random_), of_b_.emplace_back(read_b, random_);
    }
    const auto place = [&](auto& memory, auto& operand, const auto& read, const auto& tiles, int mn,
                           direction along) {
      const int k = k_tiles * block.k;
      const index_t pitch = (along == direction::k ? k : mn) + pitch_beyond;
      memory.resize(std::size_t(pitch) * (along == direction::k ? mn : k) / vector);
      auto* const data = reinterpret_cast<E*>(memory.data());
      operand = tiling::operand<E>(data, along == direction::k ? pitch : 1, along == direction::k ? 1 : pitch,
                                   read);
      for (int i = 0; i < mn; ++i)
        for (int e = 0; e < k; ++e) {
          const auto panel = tiles[e / block.k].view();
          data[i * operand.stride_mn + e * operand.stride_k] = *panel.at(i, e % block.k);
        }
    };
    place(a_, p_.a, read_a, of_a_, block.m, A);
    place(b_, p_.b, read_b, of_b_, block.n, B);
    p_.c = reinterpret_cast<T*>(c_.data()), p_.c_row_stride = block.n, p_.c_col_stride = 1;
    p_.m = block.m, p_.n = block.n, p_.k = k_tiles * block.k;
  }

  /// Computes C; false if the wavefronts wait for ever.
  bool run(const std::vector<acts>& halves, const order& how) {
    std::memset(local_.data(), 0x7f, local_.size() * 16);  // no number of two bytes
    for (T* c = p_.c; c < p_.c + block.m * block.n; ++c) *c = T(untouched);
    const tiling::position at{0, 0, 0, p_.k, block.m, block.n};
    all_.clear();
    for (int w = 0; w < waves; ++w) {
      wave x{halves[w / (waves / 2)]};
      for (int lane = 0; lane < lanes; ++lane) {
        x.sums.emplace_back(w * lanes + lane);
        x.copies.emplace_back(p_, at, reinterpret_cast<char*>(local_.data()), w * lanes + lane);
      }
      all_.push_back(std::move(x));
    }
    for (;;) {
      std::vector<int> able;
      bool all_done = true;
      for (int w = 0; w < waves; ++w) {
        const wave& x = all_[w];
        all_done = all_done && x.next == x.what.size();
        if (x.next < x.what.size() && x.what[x.next].what != act::meet) able.push_back(w);
      }
      if (all_done) break;
      if (able.empty() && !meet()) return false;
      if (able.empty()) continue;
      step(all_[how.next == order::first  ? able.front()
                : how.next == order::last ? able.back()
                                          : able[random_() % able.size()]],
           how);
      if (how.copies == order::any_time)
        for (wave& x : all_) arrive(x, random_() % (x.under_way.size() + 1) / 2);
    }
    with_kinds([&](auto... kinds) {
      for (wave& x : all_)
        for (accumulator& sums : x.sums) {
          if constexpr (accumulator::takes_kinds) sums.correct(unsigned(p_.k), kinds...);
          sums.write(p_, at, sum_itself());
        }
    });
    return true;
  }
  void expect_right() const { expect_product(p_.c, block.m, block.n, block.m, block.n, of_a_, of_b_); }
  bool is_right() const {
    for (int i = 0; i < block.m; ++i)
      for (int j = 0; j < block.n; ++j) {
        double sum = 0;
        for (int s = 0; s < k_tiles_; ++s)
          for (int e = 0; e < block.k; ++e)
            sum += of_a_[s].numbers[i * block.k + e] * of_b_[s].numbers[j * block.k + e];
        if (p_.c[i * block.n + j] != T(sum)) return false;
      }
    return true;
  }

 private:
  struct wave {
    acts what;
    std::size_t next = 0;
    std::vector<accumulator> sums{};    // of its lanes
    std::vector<copies_type> copies{};  // of its lanes
    std::vector<copy_of_lane> under_way{};
    std::size_t begun = 0;  // copies
  };

  bool meet() {
    for (const wave& x : all_)
      if (x.next == x.what.size()) return false;
    for (wave& x : all_) ++x.next;
    return true;
  }
  /// So many of a wavefront's copies, any of them.
  void arrive(wave& x, std::size_t count) {
    for (; count > 0; --count) {
      copy_of_lane& c = x.under_way[random_() % x.under_way.size()];
      std::memcpy(c.to, c.from, copier::direct_bytes);
      c = x.under_way.back();
      x.under_way.pop_back();
    }
  }
  /// All but the last ones.
  void arrive_but(wave& x, std::size_t left) {
    std::erase_if(x.under_way, [&](const copy_of_lane& c) {
      const bool arrives = c.number + left < x.begun;
      if (arrives) std::memcpy(c.to, c.from, copier::direct_bytes);
      return arrives;
    });
  }
  template <class F>
  void with_kinds(const F& f) {
    detail::simt::with_kinds<accumulator>(
        stager::panels_of(p_, reinterpret_cast<const char*>(local_.data()), 0), f);
  }
  void step(wave& x, const order& how) {
    const act& a = x.what[x.next++];
    if (a.what == act::copy) {
      copies_under_way all{&x.under_way, x.begun, 0, copier::direct_bytes};
      copying = &all;
      for (; all.lane < lanes; ++all.lane) all.next = 0, x.copies[all.lane].copy(a.cluster, a.slot, a.ahead);
      x.begun += all.first.size();
      if (how.copies == order::at_once) arrive(x, x.under_way.size());
    } else if (a.what == act::next) {
      for (copies_type& of_lane : x.copies) of_lane.next_k_tile();
    } else if (a.what == act::wait) {
      arrive_but(x, std::size_t(a.left));
    } else if (a.what == act::load) {
      for (int lane = 0; lane < lanes; ++lane) x.sums[lane].load(x.copies[lane].panels(a.slot), a.cluster);
    } else if (a.what == act::multiply) {
      emulator machine;
      emulated = &machine;
      with_kinds([&](auto... kinds) {
        for (const bool multiplies : {false, true}) {
          if (multiplies) machine.multiply_from_now_on();
          for (int lane = 0; lane < lanes; ++lane) {
            machine.begin(lane);
            x.sums[lane].multiply_cluster(a.cluster, kinds...);
          }
        }
      });
    }
  }

  template <int MN, direction Along>
  using tile = k_tile<detail::simt::wave_panel<E, MN, block.k, Along>, E, MN, block.k>;
  using vectors = std::vector<detail::simt::run<E, vector>>;  // aligned to 16 bytes

  int k_tiles_;
  std::mt19937 random_;
  std::vector<tile<block.m, A>> of_a_;
  std::vector<tile<block.n, B>> of_b_;
  vectors a_, b_;
  std::vector<detail::simt::run<T, 4>> c_;
  std::vector<detail::simt::run<double, 2>> local_;
  gemm_problem<Types> p_{};
  std::vector<wave> all_;
};

constexpr tiling::config rows_of(int m, int n, int k, int warp_m, int warp_n) {
  return {{m, n, k}, {warp_m, warp_n, 0}, {16, 16, 0}, 2, 1, tiling::math_unit::matrix, false, true};
}
using gfx942 = amd_gpu<matrix_units::cdna3, 4>;
using gfx950 = amd_gpu<matrix_units::cdna3, 16>;  // whose fragments are those of gfx942

template <class Types, tiling::config Config, class Gpu, direction A, direction B>
void test_orders(int k_tiles, const std::vector<order>& orders,
                 const tiling::reading<typename Types::a>& read_a = {},
                 const tiling::reading<typename Types::a>& read_b = {}) {
  using test_team = team<Types, Config, Gpu, A, B>;
  const auto here = std::make_unique<test_team>(k_tiles, read_a, read_b);
  for (const order& how : orders) {
    SCOPED_TRACE("wavefronts " + std::to_string(how.next) + ", copies " + std::to_string(how.copies));
    ASSERT_TRUE(here->run(acts_of_halves<test_team::counts>(k_tiles), how));
    here->expect_right();
  }
}
const std::vector<order> any_orders = {{order::any, order::any_time}, {order::any, order::at_once},
                                       {order::any, order::late},     {order::first, order::at_once},
                                       {order::last, order::at_once}, {order::first, order::late},
                                       {order::last, order::late},    {order::any, order::any_time}};
const std::vector<order> one_order = {{order::any, order::any_time}};

// Two clusters of k, and two of rows, which gfx942 copies apart in the larger tile.
constexpr tiling::config small = rows_of(64, 128, 64, 32, 32), short_k = rows_of(64, 128, 32, 32, 32),
                         apart = rows_of(128, 128, 32, 64, 32);

TEST(PingPong, AnyOrderGivesTheProduct) {
  test_orders<types::f16_f32, small, gfx950, direction::k, direction::k>(4, any_orders);
  test_orders<types::f16_f32, small, gfx942, direction::mn, direction::mn>(3, any_orders);
  test_orders<types::bf16_f32, short_k, gfx942, direction::k, direction::mn>(5, any_orders);
  test_orders<types::f16_f32, short_k, gfx942, direction::mn, direction::k>(1, any_orders);
  test_orders<types::f16_f32, apart, gfx942, direction::k, direction::mn>(5, any_orders);
  test_orders<types::bf16_f32, apart, gfx942, direction::k, direction::k>(2, any_orders);
}
TEST(PingPong, AnyOrderGivesTheProductOfBytes) {
  constexpr tiling::config bytes = rows_of(64, 128, 64, 32, 32);
  tiling::reading<integer8> is_signed, is_not;
  is_not.is_signed = false;
  test_orders<types::i8_i32, bytes, gfx942, direction::k, direction::mn>(3, any_orders, is_signed, is_not);
  test_orders<types::i8_i32, bytes, gfx942, direction::mn, direction::k>(2, one_order, is_not, is_not);
}
// The tiles of backends/hip/tiles.hpp.
TEST(PingPong, TilesOfTheTable) {
  constexpr auto k = direction::k, mn = direction::mn;
  constexpr tiling::config large = rows_of(256, 256, 64, 128, 64), large_f8 = rows_of(256, 256, 128, 128, 64),
                           large_i8 = rows_of(256, 128, 128, 64, 64), narrow = rows_of(256, 128, 32, 64, 64),
                           narrow_i8 = rows_of(256, 128, 64, 64, 64);
  test_orders<types::f16_f32, large, gfx950, k, mn>(2, one_order);
  test_orders<types::f16_f32, large, gfx950, mn, k>(2, one_order);
  test_orders<types::f16_f32, narrow, gfx942, k, mn>(3, one_order);
  test_orders<types::f16_f32, narrow, gfx942, mn, k>(3, one_order);
  test_orders<types::f8_f32, large_f8, gfx950, k, mn>(2, one_order);
  test_orders<types::i8_i32, large_i8, gfx950, mn, k>(2, one_order);
  test_orders<types::i8_i32, narrow_i8, gfx942, k, k>(2, one_order);
  test_orders<types::i8_i32, narrow_i8, gfx942, mn, mn>(2, one_order);
}

// The emulation tells, too.
TEST(PingPong, WithoutAMeetingSomeOrderGivesAnotherResult) {
  using test_team = team<types::f16_f32, small, gfx950, direction::k, direction::k>;
  const auto here = std::make_unique<test_team>(4, tiling::reading<float16>(), tiling::reading<float16>());
  const auto wrong_without = [&](const std::function<bool(const act&)>& which) {
    auto halves = acts_of_halves<test_team::counts>(4);
    leave_out(halves, which);
    return std::any_of(any_orders.begin(), any_orders.end(),
                       [&](const order& how) { return !here->run(halves, how) || !here->is_right(); });
  };
  EXPECT_FALSE(wrong_without([](const act&) { return false; }));
  for (const meeting where :
       {meeting::start, meeting::apart, meeting::loaded, meeting::multiplied, meeting::together})
    EXPECT_TRUE(wrong_without(meetings_at(where))) << "meeting " << int(where);
  EXPECT_TRUE(wrong_without([](const act& a) { return a.what == act::wait; }));
}

}  // namespace
}  // namespace test
}  // namespace keramos

#endif
