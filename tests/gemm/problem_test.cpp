// What a launch copies to a device means the same there.
#include <vector>

#include <gtest/gtest.h>
#include <Kokkos_Core.hpp>

#include <keramos/gemm/problem.hpp>
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

template <class Types>
class GemmProblem : public testing::Test {};
using types_of_products = testing::Types<types::f32, types::f64, types::i32, types::i8_i32, types::i8,
                                         types::c32, types::c64, types::f16, types::bf16, types::f8_f32,
                                         types::f16xf32, types::bf16xf32, types::f32xc32, types::f64xc64>;
TYPED_TEST_SUITE(GemmProblem, types_of_products);

/// A problem between others, as in a kernel's functor.
template <class Types>
struct between {
  int before;
  gemm_problem<Types> p;
  int after;
};

constexpr int fields = 20;

template <class Types>
struct read_fields {
  between<Types> x;
  index_t* to;

  KERAMOS_INLINE_FUNCTION void operator()() const {
    const auto& p = x.p;
    const auto number = [](const auto* pointer) { return reinterpret_cast<index_t>(pointer); };
    const index_t values[fields] = {x.before,
                                    number(p.a.data),
                                    p.a.stride_mn,
                                    p.a.stride_k,
                                    p.a.conjugated,
                                    p.a.kind(),
                                    number(p.b.data),
                                    p.b.stride_mn,
                                    p.b.stride_k,
                                    p.b.conjugated,
                                    p.b.kind(),
                                    number(p.c),
                                    p.c_row_stride,
                                    p.c_col_stride,
                                    p.m,
                                    p.n,
                                    p.k,
                                    p.place.batch,
                                    p.place.transposed,
                                    x.after};
    for (int i = 0; i < fields; ++i) to[i] = values[i];
  }
};

/// An operand at an address that is a number, read not as it is by itself.
template <class T>
tiling::operand<T> operand_at(index_t address, index_t stride_mn, index_t stride_k) {
  tiling::reading<T> how;
  if constexpr (detail::is_complex<T>)
    how.conjugated = true;
  else if constexpr (std::is_same_v<T, integer8>)
    how.is_signed = false;
  else if constexpr (std::is_same_v<T, float8>)
    how.is_e5m2 = true;
  return {reinterpret_cast<const T*>(address), stride_mn, stride_k, how};
}

// nvcc lays some classes out otherwise for devices than the compiler of the host does.
TYPED_TEST(GemmProblem, IsTheSameOnTheDevice) {
  between<TypeParam> x{101, {}, 119};
  x.p.a = operand_at<typename TypeParam::a>(128, 103, 104);
  x.p.b = operand_at<typename TypeParam::b>(256, 106, 107);
  x.p.c = reinterpret_cast<typename TypeParam::c*>(512);
  x.p.c_row_stride = 108, x.p.c_col_stride = 109, x.p.m = 110, x.p.n = 111, x.p.k = 112;
  x.p.place = {113, 114, 115, true};

  std::vector<index_t> expected(fields), seen(fields);
  read_fields<TypeParam>{x, expected.data()}();

  queue q;
  Kokkos::View<index_t*, Kokkos::DefaultExecutionSpace> on_device("fields", fields);
  q.single_task("read_fields", read_fields<TypeParam>{x, on_device.data()});
  q.wait();
  Kokkos::deep_copy(Kokkos::View<index_t*, Kokkos::HostSpace>(seen.data(), fields), on_device);
  EXPECT_EQ(seen, expected);
}

}  // namespace
