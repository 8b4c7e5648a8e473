// Compiled once per instruction set, KERAMOS_HOST_ISA naming it: its atoms against plain loops. Elements are small whole
// numbers, so that sums are exact.
#include "instruction_set.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

#include <keramos/backends/host/amx.hpp>
#include <keramos/backends/host/number_block.hpp>
#include <keramos/backends/host/products.hpp>
#include <keramos/backends/host/tiles.hpp>
#include <keramos/backends/host/vector.hpp>

namespace keramos::test::KERAMOS_HOST_ISA {
namespace {

using namespace backend::host::KERAMOS_HOST_ISA;

#define KERAMOS_STRING_(x) #x
#define KERAMOS_STRING(x) KERAMOS_STRING_(x)
#define EXPECT(condition) \
  if (!(condition)) return __FILE__ ":" KERAMOS_STRING(__LINE__) ": " #condition

// --- Vectors ---------------------------------------------------------------------------------------

template <class T, int Count>
const char* stores_first() {
  using v = simd<T>;
  T to[v::lanes + 1] = {};
  v::template store_first<Count>(to, v::by_turns(T(5), T(5)));
  for (int l = 0; l <= v::lanes; ++l) EXPECT(to[l] == T(l < Count ? 5 : 0));
  return nullptr;
}
template <class T, int... Count>
const char* all_store_first(std::integer_sequence<int, Count...>) {
  const char* wrong = nullptr;
  (void)((wrong = stores_first<T, Count + 1>()) || ...);
  return wrong;
}

template <class T>
const char* vectors_of() {
  using v = simd<T>;
  constexpr int lanes = v::lanes;
  T from[lanes + 2], to[lanes + 2];
  for (int l = 0; l < lanes + 2; ++l) from[l] = T(l + 1);
  for (int at : {0, 1}) {  // aligned as elements are, and no more
    for (T& x : to) x = 0;
    v::store(to + at, v::load(from + at));
    for (int l = 0; l < lanes; ++l) EXPECT(to[l + at] == T(l + at + 1));
    EXPECT(to[lanes + 1] == T(0));
  }
  for (int count = 0; count <= lanes; ++count) {
    const typename v::first some(count);
    const typename v::vector x = some.load(from);
    for (int l = 0; l < lanes; ++l) EXPECT(x[l] == T(l < count ? l + 1 : 0));
    for (T& e : to) e = T(99);
    some.store(to, v::load(from));
    for (int l = 0; l < lanes + 2; ++l) EXPECT(to[l] == T(l < count ? l + 1 : 99));
  }
  if (const char* wrong = all_store_first<T>(std::make_integer_sequence<int, lanes>())) return wrong;
  const typename v::vector swapped = v::swap_pairs(v::load(from)), turns = v::by_turns(T(3), T(4));
  for (int l = 0; l < lanes; ++l) {
    EXPECT(swapped[l] == T((l ^ 1) + 1));
    EXPECT(turns[l] == T(3 + l % 2));
  }
  typename v::vector rows[lanes];
  for (int i = 0; i < lanes; ++i)
    for (int j = 0; j < lanes; ++j) rows[i][j] = T(i * 100 + j);
  v::transpose(rows);
  for (int i = 0; i < lanes; ++i)
    for (int j = 0; j < lanes; ++j) EXPECT(rows[i][j] == T(j * 100 + i));
  return nullptr;
}

const char* vectors() {
  if (const char* wrong = vectors_of<float>()) return wrong;
  if (const char* wrong = vectors_of<double>()) return wrong;
  return vectors_of<std::uint32_t>();
}

// --- Elements ----------------------------------------------------------------------------------------

/// Element `i` of an operand, and the number that it is.
template <class E>
E element(int i) {
  if constexpr (std::is_same_v<E, integer8>) {
    return E(std::uint32_t(i * 89 + 3));  // any
  } else if constexpr (std::is_same_v<E, float8>) {
    constexpr std::uint8_t some[] = {0x00, 0x80, 0x40, 0xc0, 0x48, 0x3c, 0xbc, 0x44};
    E x;
    x.bits = some[(i * 5 + i / 7) % 8];
    return x;
  } else {
    return E((i * 11 + i / 5) % 9);
  }
}
template <class T, class E>
T number(E x, [[maybe_unused]] bool kind) {
  if constexpr (std::is_same_v<E, integer8>)
    return T(std::int32_t(kind ? std::int32_t(std::int8_t(x.bits)) : x.bits));
  else if constexpr (std::is_same_v<E, float8>)
    return T(detail::float_of_eight(x.bits, kind));
  else
    return T(x);
}
template <class E>
constexpr bool has_kinds = std::is_same_v<E, integer8> || std::is_same_v<E, float8>;

// --- Products ----------------------------------------------------------------------------------------

/// A product of Rows x k elements and k x a vector of them, packed and corrected as the atom wants it.
template <tiling::operand_types Operands>
const char* product_of_type() {
  using E = typename detail::kernel_type_of<Operands.a>::type;
  using T = typename detail::kernel_type_of<Operands.accumulator>::type;
  using product = typename product_of<Operands, T>::type;
  using v = simd<T>;
  constexpr int rows = 4, lanes = v::lanes, most = 19, room = most + 2;
  for (int kinds = 0; kinds < (has_kinds<E> ? 4 : 1); ++kinds)
    for (int k = 1; k <= most; ++k) {
      const bool kind_a = kinds % 2, kind_b = kinds / 2;
      E a[rows * most], b[lanes * most];
      for (int i = 0; i < rows * k; ++i) a[i] = element<E>(i);
      for (int i = 0; i < lanes * k; ++i) b[i] = element<E>(i + 3);
      const int numbers = (k + product::group - 1) / product::group;
      T a_packed[rows * room] = {}, b_packed[lanes * room] = {};
      for (int p = 0; p < numbers; ++p) {
        const int at = p * product::group;
        for (int i = 0; i < rows; ++i)  // A's rows run along k, B's columns across
          a_packed[p * rows + i] = product::pack_a::template number<T>(a + i * k + at, 1, k - at, kind_a);
        for (int j = 0; j < lanes; ++j)
          b_packed[p * lanes + j] =
              product::pack_b::template number<T>(b + at * lanes + j, lanes, k - at, kind_b);
      }
      if constexpr (product::corrections > 0) {
        product::pack_a::template add_corrections<rows>(a_packed, numbers, k, kind_a);
        product::pack_b::template add_corrections<lanes>(b_packed, numbers, k, kind_b);
      }
      for (int i = 0; i < rows; ++i) {
        typename v::vector sum{};
        int p = 0;
        for (; p < numbers; ++p)
          sum = product::add(sum, a_packed[p * rows + i], v::load(b_packed + p * lanes));
        for (; p < numbers + product::corrections; ++p)
          sum = sum + a_packed[p * rows + i] * v::load(b_packed + p * lanes);
        for (int j = 0; j < lanes; ++j) {
          T expected = 0;
          for (int q = 0; q < k; ++q)
            expected += number<T>(a[i * k + q], kind_a) * number<T>(b[q * lanes + j], kind_b);
          EXPECT(sum[j] == expected);
        }
      }
    }
  return nullptr;
}

const char* products() {
  using enum scalar_type;
  const char* wrong = nullptr;
  (void)((wrong = product_of_type<tiling::all(f32)>()) || (wrong = product_of_type<tiling::all(f64)>()) ||
         (wrong = product_of_type<tiling::all(i32)>()) || (wrong = product_of_type<tiling::halves(f16)>()) ||
         (wrong = product_of_type<tiling::halves(bf16)>()) ||
         (wrong = product_of_type<tiling::halves(f8)>()) || (wrong = product_of_type<tiling::bytes()>()));
  return wrong;
}

// --- Blocks of packed numbers --------------------------------------------------------------------------

#if defined(__AVX512BW__) && defined(__AVX512VL__)
/// Whichever way a block lies, and however much of it is there, it holds what Code makes of each element.
template <class E, class Code>
const char* block_of() {
  static_assert(packs_numbers<E, Code>);
  using block = number_block<E, Code>;
  using packed = std::conditional_t<Code::group == 1, float, std::uint32_t>;
  constexpr int side = block::side, group = Code::group, depth = side * group;
  E from[side * depth * 2];
  for (int i = 0; i < side * depth * 2; ++i) from[i] = element<E>(i);
  const int strides[][2] = {{depth, 1}, {1, side}, {depth * 2, 2}};  // along k, along m or n, neither
  for (const auto& [stride_mn, stride_k] : strides)
    for (const bool kind : {false, true})
      for (const int mn : {1, 7, side})
        for (const int k : {1, group, 2 * group + 1, depth}) {
          const block b(from, stride_mn, stride_k, mn, k, kind);
          typename simd<std::uint32_t>::vector along_k[side], along_mn[side];
          b.template read<true>(along_k);
          b.template read<false>(along_mn);
          for (int i = 0; i < side; ++i)
            for (int p = 0; p < side; ++p) {
              const int left = k - p * group;
              const E* const at = from + i * stride_mn + p * group * stride_k;
              const std::uint32_t expected =
                  i < mn && left > 0 ? __builtin_bit_cast(std::uint32_t, Code::template number<packed>(
                                                                             at, stride_k, left, kind))
                                     : 0;
              EXPECT(along_k[i][p] == expected);
              EXPECT(along_mn[p][i] == expected);
            }
        }
  return nullptr;
}
const char* number_blocks() {
  const char* wrong = nullptr;
  (void)((wrong = block_of<float16, converted>()) || (wrong = block_of<bfloat16, converted>()) ||
         (wrong = block_of<float8, converted>()) || (wrong = block_of<float8, grouped_bits<2>>()) ||
         (wrong = block_of<bfloat16, grouped_bits<2>>()) || (wrong = block_of<integer8, grouped_bits<4>>()));
#if defined(KERAMOS_HOST_BYTE_QUADS)
  (void)(wrong || (wrong = block_of<integer8, byte_quads::pack_a>()) ||
         (wrong = block_of<integer8, byte_quads::pack_b>()));
#endif
  return wrong;
}
#else
const char* number_blocks() { return nullptr; }  // there are none
#endif

// --- Matrix registers ------------------------------------------------------------------------------------

/// 16 x 16 sums of 16 packed numbers each, of elements of either kind.
template <tiling::operand_types Operands, bool KindA, bool KindB>
const char* matrix_product() {
  using product = typename matrix_product_of<Operands>::type;
  if constexpr (!std::is_void_v<product>) {
    using E = typename detail::kernel_type_of<Operands.a>::type;
    using T = typename product::number;
    using atom = typename product::template of_signs<KindA, KindB>;
    constexpr int rows = matrix::rows, k = rows * product::pack::group;
    E a[rows * k], b[rows * k];
    T a_packed[rows * rows], b_packed[rows * rows], sums[rows * rows] = {};
    for (int i = 0; i < rows * k; ++i) a[i] = element<E>(i), b[i] = element<E>(i + 3);
    for (int i = 0; i < rows; ++i)
      for (int p = 0; p < rows; ++p) {
        const int at = i * k + p * product::pack::group;
        a_packed[i * rows + p] = product::pack::template number<T>(a + at, 1, k, KindA);
        b_packed[p * rows + i] = product::pack::template number<T>(b + at, 1, k, KindB);
      }
    constexpr std::int64_t stride = rows * sizeof(T);
    const matrix::registers all;
    matrix::clear<0>();
    matrix::load<1>(a_packed, stride);
    matrix::load<2>(b_packed, stride);
    atom::template multiply<0, 1, 2>();
    atom::template multiply<0, 1, 2>();  // is added
    matrix::store<0>(sums, stride);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < rows; ++j) {
        T expected = 0;
        for (int q = 0; q < k; ++q)
          expected += 2 * number<T>(a[i * k + q], KindA) * number<T>(b[j * k + q], KindB);
        EXPECT(sums[i * rows + j] == expected);
      }
  }
  return nullptr;
}
template <tiling::operand_types Operands>
const char* matrix_products_of() {
  const char* wrong = nullptr;
  (void)((wrong = matrix_product<Operands, false, false>()) ||
         (wrong = matrix_product<Operands, true, false>()) ||
         (wrong = matrix_product<Operands, false, true>()) ||
         (wrong = matrix_product<Operands, true, true>()));
  return wrong;
}
const char* matrix_products() {
  const char* wrong = nullptr;
  (void)((wrong = matrix_products_of<tiling::halves(scalar_type::bf16)>()) ||
         (wrong = matrix_products_of<tiling::halves(scalar_type::f8)>()) ||
         (wrong = matrix_products_of<tiling::bytes()>()));
  return wrong;
}

// --- Tiles -------------------------------------------------------------------------------------------------

/// The table has a row for these vectors, which fits their registers.
const char* tiles() {
  namespace host = backend::host;
  for (const int bytes : {4, 8}) {
    const host::tile_row row = host::tile_for(vector_bytes, vector_registers, bytes);
    EXPECT(row.nr() * bytes == row.nr_vectors * vector_bytes);
    EXPECT(row.mr * row.nr_vectors + row.nr_vectors + 1 <= vector_registers);
    EXPECT(row.mc % row.mr == 0 && row.nc % row.nr() == 0);
    bool listed = false;
    for (const host::tile_row& r : host::tile_table)
      listed = listed || (r.vector_bytes == vector_bytes && r.registers == vector_registers &&
                          r.element_bytes == bytes && r.mc == row.mc && r.kc == row.kc);
    EXPECT(listed);
  }
  const host::tile_row& row = host::matrix_tile_row;
  EXPECT(row.mc % row.mr == 0 && row.nc % row.nr() == 0);
  EXPECT(row.mr % matrix::rows == 0 && row.nr() % matrix::rows == 0);
  // Its sums, and a register each of A and of B.
  EXPECT(row.mr / matrix::rows * (row.nr() / matrix::rows) + 2 <= row.registers);
  return nullptr;
}

}  // namespace

instruction_set atoms() {
  return {KERAMOS_STRING(KERAMOS_HOST_ISA), vectors, products, number_blocks, matrix_products, tiles};
}

}  // namespace keramos::test::KERAMOS_HOST_ISA
