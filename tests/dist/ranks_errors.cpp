// Mistakes of a call: found on all ranks, with one message.
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include "ranks.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

/// A 10 x 10 matrix by columns of ranks, and as much memory.
struct square {
  dist::layout layout = dist::block_cyclic{10, 10, 2, 2, {1, world().size()}};
  device_memory<double> data = device_memory<double>(std::vector<double>(100, 1.0));
  dist::matrix<double> get() { return get(layout); }
  dist::matrix<double> get(const dist::layout& l) {
    return {l, matrix_view<double>::column_major(data.data(), 10, 10)};
  }
};

/// All ranks throw one message with `part` in it, C stays as it was, and the next call is none the worse.
template <class Error = invalid_argument, class F>
void expect_one_message(const std::string& part, const F& call) {
  const std::string text = message_of<Error>(call);
  EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_TRUE(same_everywhere(text)) << text;
  square a, b, c;
  EXPECT_EQ(message_of<error>([&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get()); }), "");
  EXPECT_EQ(c.data.get()[0], c.layout.part_extents(world().rank()).cols > 0 ? 10.0 : 1.0);
}

TEST(DistErrors, CallsThatDifferOnOneRank) {
  if (world().size() == 1) return;
  const int last = world().size() - 1;
  const bool is_last = world().rank() == last;
  const std::string other = "but rank " + std::to_string(last) + " has ";
  square a, b, c;
  expect_one_message(other + "op(B): 10x9", [&] {
    dist::gemm(world(), 1.0, a.get(), is_last ? b.get().sub(0, 0, 10, 9) : b.get(), 0.0,
               is_last ? c.get().sub(0, 0, 10, 9) : c.get());
  });
  expect_one_message("rank 0 has op(A): 10x10 in 1x1", [&] {
    dist::gemm(world(), 1.0, a.get(dist::layout::on_rank(10, 10, is_last)), b.get(), 0.0, c.get());
  });
  expect_one_message("alpha and beta",
                     [&] { dist::gemm(world(), is_last ? 2.0 : 1.0, a.get(), b.get(), 0.0, c.get()); });
  expect_one_message("rank 0 has op_a and op_b: NN " + other + "op_a and op_b: NT", [&] {
    dist::layout on_all = dist::layout::on_rank(10, 10);
    dist::gemm(world(), 1.0, a.get(on_all), b.get(on_all), 0.0, c.get(), {.op_b = is_last ? op::T : op::N});
  });
  expect_one_message(other + "memory: 123456789", [&] {
    dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(),
               {.memory = is_last ? 123456789 : dist::unlimited_memory});
  });
  expect_one_message("rank 0 has compute: standard " + other + "compute: f64_emulated", [&] {
    dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(),
               {.compute = is_last ? gemm_compute::f64_emulated : gemm_compute::standard});
  });
  expect_one_message(other + "function: keramos::dist::redistribute", [&] {
    if (is_last)
      dist::redistribute(world(), op::N, a.get(), c.get());
    else
      dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get());
  });
  const device_memory<float> floats(std::vector<float>(100));
  expect_one_message(other + "elements of A: f32", [&] {
    const dist::matrix<float> f(a.layout, matrix_view<float>::column_major(floats.data(), 10, 10));
    if (is_last)
      dist::gemm(world(), 1.0, f, f, 0.0, f);
    else
      dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get());
  });
  EXPECT_EQ(c.data.get(), square().data.get());
}

TEST(DistErrors, PartsThatAreWrongOnOneRank) {
  const int last = std::min(world().size() - 1, 4);  // five have blocks
  const bool is_last = world().rank() == last;
  const std::string found = " (found on rank " + std::to_string(last) + ")";
  square a, b, c;
  const auto part_of_last = [&](matrix_view<double> part) {
    return is_last ? dist::matrix<double>(a.layout, part) : a.get();
  };
  expect_one_message("A's part 0 is 9x10 but its layout needs 10x", [&] {
    dist::gemm(world(), 1.0, part_of_last({a.data.data(), 9, 10, 1, 9}), b.get(), 0.0, c.get());
  });
  expect_one_message("its data is null; allocate it" + found, [&] {
    dist::gemm(world(), 1.0, part_of_last({nullptr, 10, 10, 1, 10}), b.get(), 0.0, c.get());
  });
  expect_one_message("C's part 0 has strides 1x1", [&] {
    dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, part_of_last({a.data.data(), 10, 10, 1, 1}));
  });
  expect_one_message("A's part 0 is missing", [&] {
    dist::gemm(world(), 1.0,
               is_last ? dist::matrix<double>(a.layout, std::vector<matrix_view<double>>()) : a.get(),
               b.get(), 0.0, c.get());
  });
  expect_one_message("the source's part 0 is 9x10", [&] {
    dist::redistribute(world(), op::N, part_of_last({a.data.data(), 9, 10, 1, 9}), c.get());
  });
  EXPECT_EQ(c.data.get(), square().data.get());
}

TEST(DistErrors, WhatAllRanksGetWrong) {
  square a, b, c;
  expect_one_message("op(B) is 9x10 but must be 10x10 (k x n)",
                     [&] { dist::gemm(world(), 1.0, a.get(), b.get().sub(0, 0, 9, 10), 0.0, c.get()); });
  expect_one_message("A's layout is for " + std::to_string(world().size() + 1) + " ranks", [&] {
    dist::gemm(world(), 1.0, a.get(dist::layout::on_rank(10, 10, world().size())), b.get(), 0.0, c.get());
  });
  expect_one_message("op(source) is 10x10 but the target is 10x9",
                     [&] { dist::redistribute(world(), op::T, a.get(), c.get().sub(0, 0, 10, 9)); });
  dist::gemm_options options;
  options.compute = gemm_compute::tf32;
  expect_one_message("options.compute",
                     [&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options); });
  options.compute = gemm_compute::standard;
  options.schedule = dist::choose_schedule(9, 10, 10, world().size());
  expect_one_message("options.schedule is for other extents",
                     [&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options); });
  options.schedule = dist::schedule{10, 10, 10, world().size(), {}, world().size() + 1, 1, 1, 1};
  expect_one_message("grid or a step that does not fit",
                     [&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options); });
  options.schedule = dist::schedule{10, 10, 10, world().size(), {}, 1, 1, 1, index_t(1) << 60};
  expect_one_message("grid or a step that does not fit",
                     [&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options); });
  options.schedule = dist::schedule{10, 10, 10, world().size()};
  options.schedule->row_blocks = {11, 1};
  expect_one_message("blocks that do not fit",
                     [&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options); });
  options.schedule->row_blocks = {};
  for (const std::vector<int>& ranks : {std::vector<int>{world().size()}, {-1}, {0, 0}}) {
    options.schedule->ranks_of_places = ranks;
    expect_one_message("does not give each place a rank of its own",
                       [&] { dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options); });
  }
  EXPECT_EQ(message_of<invalid_argument>([] { dist::communicator none(MPI_COMM_NULL); }),
            "keramos::dist::communicator: the MPI_Comm is MPI_COMM_NULL");
}

// The transport's own errors name the rank and MPI's reason.
TEST(DistErrors, OfMpi) {
  dist::communicator by_mpi(world().mpi(), {.transport = dist::transport_kind::mpi});
  const std::string text = message_of<dist::communication_error>([&] {
    char byte = 0;
    by_mpi.transport().start({{world().size() + 5, &byte, 1}}, {})->wait();
  });
  EXPECT_EQ(
      text.rfind(
          "keramos::dist: MPI_Isend failed on rank " + std::to_string(world().rank()) + ": MPI_ERR_RANK", 0),
      0u)
      << text;
}

// Of several messages the reason of the one that failed, also where MPI says only that one has.
TEST(DistErrors, OfOneMessageOfSeveral) {
  if (world().size() == 1 || !backend::traits<default_execution_space>::is_host) return;
  dist::communicator by_mpi(world().mpi(), {.transport = dist::transport_kind::mpi});
  char bytes[2][8] = {};
  if (by_mpi.rank() == 0) by_mpi.transport().start({{1, bytes[0], 8}, {1, bytes[1], 8}}, {})->wait();
  MPI_Barrier(world().mpi());
  if (by_mpi.rank() == 1) {
    const std::string text = message_of<dist::communication_error>([&] {
      by_mpi.transport().start({}, {{0, bytes[0], 8}, {0, bytes[1], 4}})->wait();
    });
    EXPECT_NE(text.find("failed on rank 1: MPI_ERR_TRUNCATE"), std::string::npos) << text;
  }
  MPI_Barrier(world().mpi());
}

// What fails while a rank multiplies is told when ranks next agree; no rank waits for its panels.
TEST(DistErrors, OfAProductOnOneRank) {
  square a, b, c;
  dist::gemm_options options;
  options.schedule = dist::schedule{10, 10, 10, world().size(), {}, 1, std::min(world().size(), 10), 1, 3};
  const auto product = [&](const std::function<void()>& fail) {
    auto p = detail::dist_product_of(a.get(), b.get(), c.get(), 1.0, 0.0, options);
    if (world().rank() == 0) p.multiply = [fail](auto&&...) { fail(); };
    detail::dist_multiply(world(), p, options);
  };
  expect_one_message<memory_error>("there is not enough memory",
                                   [&] { product([] { throw std::bad_alloc(); }); });
  expect_one_message<error>("no such luck (found on rank 0)",
                            [&] { product([] { throw error("no such luck"); }); });
  EXPECT_EQ(c.data.get(), square().data.get());
}

// What one rank throws in the middle of a call, in which others wait for it. The communicator is of no use then.
TEST(DistErrors, WhatOneRankThrowsOthersLearn) {
  const int ranks = world().size();
  // The end of the sentence is there once, also where what was thrown has it.
  const std::string why = "no such luck", ends = "; the communicator is of no use any more";
  const std::string learnt = "keramos::dist: rank 0 left the call: " + why + ends;
  for (const auto& each : {std::pair{dist::transport_kind::automatic, why},
                           std::pair{dist::transport_kind::staged, why + ends}}) {
    const std::string& thrown = each.second;
    dist::communicator comm(world().mpi(), {.transport = each.first});
    square a, b, c;
    dist::gemm_options options;
    options.schedule = dist::choose_schedule(10, 10, 10, ranks);
    const dist::layout on_first = dist::layout::on_rank(10, 10);
    const auto product = [&] {
      auto p = detail::dist_product_of(a.get(on_first), b.get(on_first), c.get(), 1.0, 0.0, options);
      if (comm.rank() == 0) p.copy_a = p.copy_b = [&thrown](auto&&...) { throw error(thrown); };
      detail::dist_multiply(comm, p, options);
    };
    const bool is_first = comm.rank() == 0;
    const std::string text =
        is_first ? message_of<error>(product) : message_of<dist::communication_error>(product);
    EXPECT_EQ(text, is_first ? thrown : learnt);
    EXPECT_EQ(c.data.get(), square().data.get());
    // Also who asks for more.
    if (ranks > 1) {
      EXPECT_EQ(
          message_of<dist::communication_error>([&] { dist::redistribute(comm, op::N, a.get(), c.get()); }),
          learnt);
    }
  }
}

std::string message_of_lost(const std::function<void()>& call) {
  const std::string text = message_of<dist::communication_error>(call);
  EXPECT_NE(text.find("has waited longer than options.mpi_timeout_seconds"), std::string::npos) << text;
  return text;
}

// After a time-out MPI may still send what it began to send: memory of messages stays as it is.
TEST(DistErrors, MessagesThatCannotBeEndedKeepTheirMemory) {
  if (world().size() == 1 || !backend::traits<default_execution_space>::is_host) return;
  dist::communicator comm(world().mpi(), {.mpi_timeout_seconds = 1});
  const std::size_t bytes = std::size_t(1) << 22;
  if (comm.rank() == 0) {
    detail::dist_account account(comm.pool());
    const detail::dist_memory sent(account, index_t(bytes));
    std::memset(sent.data(), 7, bytes);
    message_of_lost([&] { comm.transport().start({{1, sent.data(), bytes}}, {})->wait(); });
    EXPECT_NE(message_of<dist::communication_error>([&] { comm.transport().check(); }), "");
  }
  MPI_Barrier(world().mpi());
  if (comm.rank() == 1) {
    std::vector<char> received(bytes, 0);
    comm.transport().start({}, {{0, received.data(), bytes}})->wait();
    EXPECT_EQ(std::count(received.begin(), received.end(), 7), std::ptrdiff_t(bytes));
  }
  MPI_Barrier(world().mpi());
}

// A rank that has a mistake to tell, and stalls before it does: the others do not wait for its words for ever.
TEST(DistErrors, ARankThatStallsWhileRanksAgree) {
  if (world().size() == 1) return;
  dist::communicator comm(world().mpi(), {.mpi_timeout_seconds = 1});
  const int last = comm.size() - 1;
  if (comm.rank() == last) {
    const std::uint64_t mine[3] = {0, 0, dist::failure_kinds + std::uint64_t(dist::failure::other)};
    std::uint64_t most[3];
    comm.largest(mine, most, 3);
  } else {
    const std::string text = message_of_lost([&] { comm.agree("nothing"); });
    EXPECT_NE(text.find("no answer of rank"), std::string::npos) << text;
  }
  MPI_Barrier(world().mpi());
}

// The others have waited too long, and ask who is missing: what it says is what they throw, and not that it does not answer.
TEST(DistErrors, ARankThatLeavesWhileOthersAskWhoIsMissing) {
  if (world().size() == 1) return;
  const double patience = 1.5;
  dist::communicator comm(world().mpi(), {.mpi_timeout_seconds = patience});
  const int last = comm.size() - 1;
  if (comm.rank() == last) {
    std::this_thread::sleep_for(std::chrono::duration<double>(1.5 * patience));
    comm.transport().leave("no such luck");
  } else {
    EXPECT_EQ(message_of<dist::communication_error>([&] { comm.agree("nothing"); }),
              "keramos::dist: rank " + std::to_string(last) +
                  " left the call: no such luck; the communicator is of no use any more");
  }
  MPI_Barrier(world().mpi());
}

// An intercommunicator has ranks of two groups, and no rank of one number.
TEST(DistErrors, AnIntercommunicatorIsRefused) {
  const int rank = world().rank(), ranks = world().size();
  if (ranks == 1) return;
  MPI_Comm group, both;
  MPI_Comm_split(world().mpi(), rank == 0, rank, &group);
  MPI_Intercomm_create(group, 0, world().mpi(), rank == 0 ? 1 : 0, 9, &both);
  EXPECT_EQ(message_of<invalid_argument>([&] { dist::communicator none(both); }),
            "keramos::dist::communicator: the MPI_Comm is an intercommunicator; merge its groups by "
            "MPI_Intercomm_merge");
  MPI_Comm_free(&both), MPI_Comm_free(&group);
}

// Whichever rank has them.
TEST(DistErrors, OptionsThatAreNone) {
  for (const dist::communicator_options& wrong :
       {dist::communicator_options{.transport = dist::transport_kind(55)},
        dist::communicator_options{.mpi_timeout_seconds = std::nan("")},
        dist::communicator_options{.timeout_seconds = -1}}) {
    const bool is_last = world().rank() == world().size() - 1;
    const auto make = [&] {
      dist::communicator none(world().mpi(),
                              is_last ? wrong : dist::communicator_options{.transport = wrong.transport});
    };
    EXPECT_NE(message_of<invalid_argument>(make).find("keramos::dist::communicator: options."),
              std::string::npos);
  }
}

// The last rank comes when the others have given up, and waits for them in its turn.
TEST(DistErrors, ARankThatMakesItsCommunicatorTooLate) {
  if (world().size() == 1) return;
  MPI_Comm of;  // not freed: what ranks have begun there may never end
  MPI_Comm_dup(world().mpi(), &of);
  const bool is_last = world().rank() == world().size() - 1;
  const dist::communicator_options options{.mpi_timeout_seconds = 0.5};
  const auto make = [&] { dist::communicator none(of, options); };
  if (!is_last) {
    const std::string text = message_of<dist::communication_error>(make);
    EXPECT_NE(text.find("for all ranks of the MPI_Comm to make a communicator"), std::string::npos) << text;
  }
  MPI_Barrier(world().mpi());
  if (is_last) {
    EXPECT_NE(message_of<dist::communication_error>(make), "");
  }
  MPI_Barrier(world().mpi());
}

}  // namespace
