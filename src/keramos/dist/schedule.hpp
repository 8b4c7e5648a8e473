// How a product is divided among ranks. No MPI and no data here: a schedule is a value, a function of what it is made from
// and nothing else, the same on every rank.
//
// The m x n x k box of multiplications is cut into pm x pn x pk boxes, one for a rank (COSMA: Kwasniewski, Kabic, Besta,
// VandeVondele, Solca, Hoefler, "Red-blue pebbling revisited", SC'19). A rank takes its k in steps: the panels of A and B of a
// step are gathered from the ranks that hold them while the step before is multiplied. Then the pk ranks that have partial
// sums of one block of C each add up a share of it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>
#include <keramos/dist/layout.hpp>

namespace keramos::dist {

/// Bytes of elements of A and B and of sums.
struct element_bytes {
  int a = 8, b = 8, sum = 8;
  bool operator==(const element_bytes&) const = default;
};

/// Lines that are dealt out to parts in turn, as ScaLAPACK does: block 0 has `first` lines, others have `block`, and block b goes
/// to part (b + from) % parts. block = 0: not so.
struct dealt_blocks {
  index_t block = 0, first = 0;
  int from = 0;
  bool operator==(const dealt_blocks&) const = default;
};

inline constexpr index_t unlimited_memory = std::numeric_limits<index_t>::max();

struct KERAMOS_EXPORT schedule {
  index_t m = 0, n = 0, k = 0;
  int ranks = 1;  ///< that there are; pm * pn * pk of them work
  element_bytes bytes = {};
  int pm = 1, pn = 1, pk = 1;
  index_t step = 1;  ///< columns of A and rows of B that are multiplied at a time
  /// The same of the first step, if it is shorter, since a rank waits for its panels; 0: as the others.
  index_t first_step = 0;
  /// With one step, for which no product can hide the panels: so many sixteenths of a rank's rows of C, where panels of A travel,
  /// and of its columns, where those of B do, are multiplied while the panels of the others travel. 0: panels travel at once.
  int first_sixteenths = 0;

  /// Each part of m, n and k is one stretch, and columns of A and rows of B of each step are shared out in stretches. Where pk is
  /// 1, they may be dealt out in blocks instead, as operands are: rows of A and C to the pm parts of m, columns of B and C to
  /// the pn of n, columns of A to the pn ranks that need them, rows of B to the pm.
  dealt_blocks row_blocks = {}, col_blocks = {}, a_blocks = {}, b_blocks = {};
  /// The rank of each place; empty: its number.
  std::vector<int> ranks_of_places = {};

  /// A rank's place; false if it has none.
  bool place(int rank, int& im, int& in, int& ik) const;
  int places() const { return pm * pn * pk; }
  int rank_of(int im, int in, int ik) const {
    const int number = (ik * pm + im) * pn + in;
    return ranks_of_places.empty() ? number : ranks_of_places[std::size_t(number)];
  }

  /// How many rows of C a place with this im has, and how many columns one with this in; the most that any has, with the most
  /// of k.
  index_t rows_of(int im) const;
  index_t cols_of(int in) const;
  struct box {
    index_t m = 0, n = 0, k = 0;
  };
  box largest_box() const;

  /// Of the ranks' parts in k: how many steps each takes, and where step t of part ik begins. Step steps() ends it.
  int steps() const;
  index_t first() const { return first_step > 0 && first_step < step ? first_step : step; }
  index_t step_begin(int ik, int t) const;
  /// Groups of panels that travel one after the other: steps, or of the only one the first rows and columns, and the others.
  int stages() const { return first_sixteenths > 0 ? 2 : steps(); }
  /// How many rows of C at a place with this im belong to the first stage, and columns at one with this in; all where there is
  /// nothing to cut.
  index_t first_rows(int im) const;
  index_t first_cols(int in) const;
  /// Columns of A's panel of a step, or rows of B's, counted from the step's first on: begin ... end - 1 come from `sharer` (an in
  /// of A, an im of B). Where lines of k are dealt out in blocks, those of one sharer stand side by side in A's panels, and in few
  /// places in B's.
  struct run {
    int sharer;
    index_t begin, end;
  };
  std::vector<run> runs_of_a(int ik, int t) const;
  std::vector<run> runs_of_b(int ik, int t) const;

  /// Whether the sums of a block stand by columns and are shared out by columns.
  bool sums_by_columns() const;

  /// Where op(A) (m x k), op(B) (k x n) and the sums (m x n) lie while the product runs. A rank has one part of each at most, or
  /// one for each stage `as_copied`.
  /// Columns of A of each step are shared out to the pn ranks that need them, rows of B to the pm, blocks of C to the pk. A user
  /// whose matrices lie so saves nothing but time: they are copied, but not sent. `as_copied`: as gemm has its copies, with lines
  /// of k in the order of panels, and with rows of A and columns of B of each stage in a part of their own.
  layout layout_a(bool as_copied = false) const;
  layout layout_b(bool as_copied = false) const;
  layout layout_sums() const;

  /// Bytes that a rank receives in panels and in sums: not what it takes to bring operands into these layouts.
  index_t panel_bytes(int rank) const;
  index_t sum_bytes(int rank) const;
  /// The most that a rank receives in both.
  index_t volume() const;
  /// The least that some rank must touch of A, B and C (in bytes of elements that are all as large as sums), whatever the
  /// schedule: the bound of Al Daas, Ballard, Grigori, Kumar and Rouse (SPAA'22, theorem 3), which is COSMA's, 3(mnk/P)^(2/3),
  /// where P is large enough that the cube of mnk/P multiplications fits into the box; and what this schedule touches.
  double touched_bound() const;
  double touched() const;

  /// The most that a rank allocates beside the operands, without the buffers of redistribution, which take what is left
  /// of the memory given; unlimited_memory from 2^62 bytes on.
  index_t memory() const;

  std::string to_string() const;
  bool operator==(const schedule&) const = default;
};

/// The schedule for ranks that may each allocate `memory` bytes. Among the grids whose largest local product is at most 1/24
/// larger than the smallest that any grid has, the one with which a rank receives the fewest bytes; then that of fewest ranks,
/// and of fewest parts of k.
///
/// Long steps read and write the sums less often, short ones wait less for the first panels. `memory_per_link` is how many
/// bytes a rank's machine reads and writes of its memory while it receives one from another, and sets the balance, with a short
/// first step. Products of elements narrower than their sums take one step instead of two, and so do others of which a rank
/// receives 128 MB of panels or more, or so little that sums weigh more. One step with 64 MB and more is cut by first_sixteenths.
/// 0: steps are as short as products of panels outweigh sums and messages are long, which suits hosts.
/// @throws memory_error if no grid fits, with the bytes that the leanest needs; invalid_argument if an extent is negative or
/// there is no rank.
KERAMOS_EXPORT schedule choose_schedule(index_t m, index_t n, index_t k, int ranks, element_bytes bytes = {},
                                        index_t memory = unlimited_memory, double memory_per_link = 0);

/// Where a product's matrices lie: op(A) (m x k), op(B) (k x n), C (m x n).
struct operand_layouts {
  layout a, b, c;
  bool operator==(const operand_layouts&) const = default;
};

/// Bytes that a rank receives and sends in a product from these layouts: redistribution, panels and sums. C is sent as sums.
struct rank_traffic {
  index_t received = 0, sent = 0;
  /// Of those received: to bring A and B to layout_a() and layout_b(), and the sums to C.
  index_t redistributed = 0;
  index_t most() const { return received > sent ? received : sent; }
};
/// Of each rank. Takes time and memory by the square of their number.
/// @throws invalid_argument if extents are not the schedule's, a layout has more ranks than there are, or the schedule is none
/// that gemm would follow.
KERAMOS_EXPORT std::vector<rank_traffic> traffic_of(const schedule& s, const operand_layouts& where);

/// The schedule for matrices that lie there. Of the grids that the other choose_schedule allows, with parts of m, n and k in
/// stretches or, where a layout is cyclic, dealt out as that layout is, the one with which the rank that receives or sends most
/// does so with the fewest bytes, redistribution included. Places go to ranks that have much of what they need. It is the other's
/// choice if that takes at most 1/20 more. Where `memory_per_link` is said, redistributing anything counts as 16 MB more: a round
/// of messages before the first panels takes so long, however short they are.
///
/// It is the other's choice as well where counting would take long: more than 64 ranks, 16384 blocks of rows and columns in all,
/// or a layout with more than 512 parts.
/// @throws as the other; invalid_argument if extents disagree.
KERAMOS_EXPORT schedule choose_schedule(const operand_layouts& where, int ranks, element_bytes bytes = {},
                                        index_t memory = unlimited_memory, double memory_per_link = 0);

}  // namespace keramos::dist

namespace keramos::detail {

/// Why nothing can follow a schedule: its grid, steps, blocks or places do not fit; "" if they do.
KERAMOS_EXPORT std::string dist_flaw_of(const dist::schedule& s);

}  // namespace keramos::detail
