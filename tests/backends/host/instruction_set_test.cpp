// The atoms of every instruction set that the library was compiled for and that this processor has.
#include "instruction_set.hpp"

#include <gtest/gtest.h>

#include <keramos/backends/host/versions.hpp>

namespace keramos::test {
namespace {

struct instruction_sets {
  auto baseline() const { return baseline::atoms(); }
  auto avx2() const { return avx2::atoms(); }
  auto avx512() const { return avx512::atoms(); }
  auto avx512_vnni() const { return avx512_vnni::atoms(); }
  auto avx512_bf16() const { return avx512_bf16::atoms(); }
  auto amx() const { return amx::atoms(); }
  auto neon_dot() const { return neon_dot::atoms(); }
  auto sve256() const { return sve256::atoms(); }
  auto sve512() const { return sve512::atoms(); }
};

void expect_right(const char* (*instruction_set::*test)()) {
  backend::host::for_each_version(instruction_sets(), [&](const instruction_set& isa) {
    const char* const wrong = (isa.*test)();
    EXPECT_EQ(wrong, nullptr) << isa.name << ": " << wrong;
  });
}

TEST(HostAtoms, VectorsLoadStoreAndPermute) { expect_right(&instruction_set::vectors); }
TEST(HostAtoms, ProductsOfPackedNumbersAreExact) { expect_right(&instruction_set::products); }
TEST(HostAtoms, BlocksHoldThePackedNumbers) { expect_right(&instruction_set::number_blocks); }
TEST(HostAtoms, MatrixRegistersMultiply) { expect_right(&instruction_set::matrix_products); }
TEST(HostAtoms, TilesFitTheRegisters) { expect_right(&instruction_set::tiles); }

}  // namespace
}  // namespace keramos::test
