// What rows of tile tables count on of a multiprocessor, on GPUs whose vendors count in other units.
#include <gtest/gtest.h>

#include <keramos/backends/hip/multiprocessor.hpp>
#include <keramos/backends/sycl/xe_cores.hpp>

namespace keramos::test {
namespace {

using namespace backend;

// A stack of the Data Center GPU Max: 64 Xe cores of 8 vector engines. Arc A770: 32 Xe cores of 16.
TEST(Multiprocessors, AreXeCores) {
  EXPECT_EQ(sycl_backend::xe_cores(512, 8), 64);
  EXPECT_EQ(sycl_backend::xe_cores(512, 16), 32);
}
TEST(Multiprocessors, AreThreadsOfAProcessor) {
  EXPECT_EQ(sycl_backend::xe_cores(104, 0), 104);
  EXPECT_EQ(sycl_backend::xe_cores(4, 8), 1);
}

// A team of 256 threads is a wavefront on each SIMD unit of CDNA, and two of RDNA.
TEST(Multiprocessors, HoldWavefrontsOfTeams) {
  EXPECT_EQ(hip::cdna.waves(2, 256, 16 * 1024), 2);
  EXPECT_EQ(hip::rdna.waves(2, 256, 16 * 1024), 4);
  EXPECT_EQ(hip::cdna.waves(100, 256, 0), 8);
  EXPECT_EQ(hip::rdna.waves(100, 256, 0), 16);
  EXPECT_EQ(hip::cdna.waves(1, 64, 0), 1);
}
// Of 40 KB one team on CDNA 2 and 3, three on CDNA 4 and on both compute units of RDNA's.
TEST(Multiprocessors, HoldTeamsOfTheirLocalMemory) {
  EXPECT_EQ(hip::cdna.waves(8, 256, 40 * 1024), 1);
  EXPECT_EQ(hip::cdna4.waves(8, 256, 40 * 1024), 3);
  EXPECT_EQ(hip::rdna.waves(8, 256, 40 * 1024), 2 * 3);
}

}  // namespace
}  // namespace keramos::test
