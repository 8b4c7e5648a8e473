// Queues that outlive Kokkos: their memory is gone before it, what is asked of them throws, and nothing aborts.
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <keramos/keramos.hpp>

namespace {

using matrix = keramos::matrix_view<double>;
struct do_nothing {
  KERAMOS_INLINE_FUNCTION void operator()(keramos::index_t) const {}
};
struct no_phases {
  template <class G>
  KERAMOS_INLINE_FUNCTION void operator()(G&) const {}
};

std::optional<keramos::queue> outliving;  // destroyed when main is over
int failures = 0;

void expect_refused(const char* what, const std::function<void()>& call) {
  try {
    call();
    std::printf("%s: was not refused\n", what), ++failures;
  } catch (const keramos::not_initialized& e) {
    if (std::string(e.what()).find("Kokkos") == std::string::npos)
      std::printf("%s: %s\n", what, e.what()), ++failures;
  } catch (const std::exception& e) {
    std::printf("%s: another exception: %s\n", what, e.what()), ++failures;
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int n = 300;
  keramos::queue* leaked = nullptr;
  keramos::event left_over;
  {
    keramos::runtime guard(argc, argv);
    using view = Kokkos::View<double**, keramos::default_execution_space>;
    const view a("a", n, n), c("c", n, n);
    outliving.emplace(keramos::queue_options{.own_instance = true});
    leaked = new keramos::queue;
    for (keramos::queue* q : {&*outliving, leaked}) {
      keramos::gemm(*q, 1, a, a, 0, c);  // packs: the queue has memory now
      std::vector<view> list{a, a}, results{c, view("other", n, n)};
      left_over = keramos::gemm_batched(*q, 1, list, list, 0, results);
    }
  }
  std::vector<double> memory(2 * n * n);
  const matrix m{memory.data(), n, n, n, 1}, other{memory.data() + n * n, n, n, n, 1};
  using group = keramos::group<keramos::local_range<32>>;
  left_over.wait();
  for (keramos::queue* q : {&*outliving, leaked}) {
    q->wait();
    expect_refused("parallel_for", [&] { q->parallel_for("nothing", keramos::range{3}, do_nothing()); });
    expect_refused("parallel_for_work_group",
                   [&] { q->parallel_for_work_group<group>("nothing", keramos::range{3}, no_phases()); });
    expect_refused("gemm", [&] { keramos::gemm(*q, 1, m, m, 0, other); });
    expect_refused("small gemm", [&] {
      keramos::gemm(*q, 1, matrix{memory.data(), 2, 2, 2, 1}, matrix{memory.data() + 4, 2, 2, 2, 1}, 0,
                    matrix{memory.data() + 8, 2, 2, 2, 1});
    });
    expect_refused("copy", [&] { q->copy(memory.data(), memory.data() + 4, 4); });
    expect_refused("execution_space", [&] { (void)q->execution_space(); });
    expect_refused("mark", [&] { (void)q->mark(); });
  }
  delete leaked;
  expect_refused("queue", [] { keramos::queue q; });
  return failures;
}
