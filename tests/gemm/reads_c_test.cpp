// beta = 0 does not read C. Poison in C shows a read of floating-point numbers, but an integer times 0 is 0 whatever
// was read. So C lies in pages without access here: the first access to each faults, and the processor says whether
// it was a write. Rows of C cross from one page to the next, each time elsewhere, so that with every run other
// elements come first.
#include <Kokkos_Core.hpp>

#if defined(__x86_64__) && defined(__linux__)

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "gemm_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

using host_queue = basic_queue<Kokkos::DefaultHostExecutionSpace>;

/// Memory of which it is known how each page was first accessed. One at a time.
class watched_memory {
 public:
  explicit watched_memory(std::size_t pages) : bytes_(pages * page_bytes()) {
    start_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    active_ = this;
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
  }
  ~watched_memory() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(start_, bytes_);
  }
  watched_memory(const watched_memory&) = delete;

  static std::size_t page_bytes() { return std::size_t(sysconf(_SC_PAGESIZE)); }
  char* data() const { return start_; }
  /// Pages whose first access read them, and those whose first access wrote them.
  int read() const { return read_; }
  int written() const { return written_; }

 private:
  static void on_fault(int, siginfo_t* info, void* context) {
    watched_memory& m = *active_;
    char* const at = static_cast<char*>(info->si_addr);
    if (at < m.start_ || at >= m.start_ + m.bytes_) {
      sigaction(SIGSEGV, &m.before_, nullptr);  // not ours: it faults once more
      return;
    }
    constexpr int write_bit = 2;  // of the page fault's error code
    const bool writes = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_bit;
    ++(writes ? m.written_ : m.read_);
    mprotect(m.start_ + (at - m.start_) / page_bytes() * page_bytes(), page_bytes(), PROT_READ | PROT_WRITE);
  }

  static inline watched_memory* active_ = nullptr;
  char* start_;
  std::size_t bytes_;
  std::atomic<int> read_{0}, written_{0};
  struct sigaction before_ {};
};

template <class T>
class GemmReadsOfC : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmReadsOfC, types);

enum class form { one, batch, list };

/// Multiplies into one C, or two, of which each row (or column, if C is column-major) has two pages; `before` elements
/// lie in the first.
template <class T>
void expect_no_read(index_t m, index_t n, index_t k, double alpha, bool column_major, index_t before,
                    form f) {
  SCOPED_TRACE(testing::Message() << m << 'x' << n << 'x' << k << " alpha " << alpha << " column-major "
                                  << column_major << " before " << before << " form " << int(f));
  const index_t batch = f == form::one ? 1 : 2;
  const index_t runs = column_major ? n : m, length = column_major ? m : n;
  const index_t page = index_t(watched_memory::page_bytes() / sizeof(T)), along = 2 * page;
  ASSERT_LE(length, page);
  const std::vector<T> a(m * k, T(2)), b(k * n, T(3));
  const auto av = matrix_view<const T>::row_major(a.data(), m, k);
  const auto bv = matrix_view<const T>::row_major(b.data(), k, n);
  watched_memory memory(2 * runs * batch);
  T* const first = reinterpret_cast<T*>(memory.data()) + page - before;
  const auto cv = column_major ? matrix_view<T>::column_major(first, m, n, along)
                               : matrix_view<T>::row_major(first, m, n, along);
  const auto c = batched_matrix_view<T>::strided(cv, batch, runs * along);
  host_queue q;
  if (f == form::one)
    gemm(q, alpha, av, bv, 0, c[0]).wait();
  else if (f == form::batch)
    gemm_batched(q, alpha, av, bv, 0, c).wait();
  else
    gemm_batched(q, alpha, av, bv, 0, std::vector{c[0], c[1]}).wait();
  // What only scales C is plain C++, where a compiler may load what it will overwrite in any case (g++ 16 does).
  if (alpha != 0 && k > 0) {
    EXPECT_EQ(memory.read(), 0);
  }
  // More where two threads met at a page.
  EXPECT_GE(memory.read() + memory.written(), batch * runs * (int(before > 0) + int(before < length)));
  EXPECT_EQ(c[batch - 1](m - 1, n - 1), T(alpha * 6 * double(k)));
}

TYPED_TEST(GemmReadsOfC, NoneIfBetaIsZero) {
  std::mt19937_64 rng(fresh_seed());
  const index_t shapes[][3] = {
      {5, 7, 3},      {40, 50, 30}, {1, 500, 300},  {500, 1, 300}, {3, 5, 5000},
      {20, 90, 3000}, {70, 33, 0},  {300, 400, 500}};  // direct kernels, dot products, none, packed panels
  for (const auto& s : shapes)
    for (const bool column_major : {false, true})
      for (const double alpha : {1.0, 2.0, 0.0})
        for (const form f : {form::one, form::batch, form::list}) {
          const index_t length = column_major ? s[0] : s[1];
          expect_no_read<TypeParam>(s[0], s[1], s[2], alpha, column_major, index_t(rng() % (length + 1)), f);
        }
}

// That a read would show.
TYPED_TEST(GemmReadsOfC, AllIfBetaIsNotZero) {
  watched_memory memory(3);
  TypeParam a = 2, b = 3;
  const index_t page = index_t(watched_memory::page_bytes() / sizeof(TypeParam));
  host_queue q;
  gemm(q, 1, matrix_view<const TypeParam>{&a, 1, 1, 1, 1}, matrix_view<const TypeParam>{&b, 1, 1, 1, 1}, 1,
       matrix_view<TypeParam>{reinterpret_cast<TypeParam*>(memory.data()) + page, 1, 1, 1, 1})
      .wait();
  EXPECT_EQ(memory.read(), 1);
  EXPECT_EQ(memory.written(), 0);
}

}  // namespace

#endif
