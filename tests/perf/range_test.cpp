// Sizes and shapes as users write them.
#include "measure/core/range.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

namespace keramos::perf {
namespace {

using sizes = std::vector<std::int64_t>;

TEST(Range, SingleListAndSteps) {
  EXPECT_EQ(parse_range("512", "--size"), (sizes{512}));
  EXPECT_EQ(parse_range("100, 200,7", "--size"), (sizes{100, 200, 7}));
  EXPECT_EQ(parse_range("256:4096:*2", "--size"), (sizes{256, 512, 1024, 2048, 4096}));
  EXPECT_EQ(parse_range("100:500:+150", "--size"), (sizes{100, 250, 400}));
  EXPECT_EQ(parse_range("1:10:*3", "--size"), (sizes{1, 3, 9}));
  EXPECT_EQ(parse_range("4:8:*2,100:102:+1", "--size"), (sizes{4, 8, 100, 101, 102}));
  EXPECT_EQ(parse_range("8:8:*2", "--size"), (sizes{8}));
}

TEST(Range, WhatIsNoneSaysWhatToWrite) {
  for (const char* text :
       {"", ",", "abc", "-4", "0", "1.5", "4:8", "8:4:*2", "4:8:2", "4:8:*1", "4:8:+0", "4:8:*", "4:8:*2:3",
        "1:9999999999999:+1", "12x", "99999999999999999999", "1:2000000000:+1"}) {
    try {
      parse_range(text, "--m");
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("write --m 256:4096:*2"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(Names, RoundTripAndRefuse) {
  for (auto t : all_types) EXPECT_EQ(parse_type(name(t)), t);
  EXPECT_EQ(
      names(all_types),
      "f32,tf32,f32_emulated,f64,f64_emulated,i32,i8_i32,i8,c32,c64,f16,f16_f32,bf16,bf16_f32,f8_f16,f8_bf16,"
      "f8_f32,f16xf32,bf16xf32,f32xc32,f64xc64");
  EXPECT_EQ(names(basic_types), "f32,f64,i32");
  const auto nt = parse_ops("NT");
  EXPECT_EQ(nt.a, transpose::N);
  EXPECT_EQ(nt.b, transpose::T);
  const auto cn = parse_ops("CN");
  EXPECT_EQ(cn.a, transpose::C);
  EXPECT_EQ(cn.b, transpose::N);
  for (const char* text : {"", "N", "NNN", "nt", "XX", "NH"}) EXPECT_THROW(parse_ops(text), usage_error);
  EXPECT_THROW(parse_type("f8"), usage_error);
  EXPECT_THROW(parse_type(""), usage_error);
  EXPECT_THROW(parse_type("bf16", basic_types), usage_error);
  EXPECT_THROW(parse_type("c32", basic_types), usage_error);
  EXPECT_THROW(parse_layout("row"), usage_error);
}

std::vector<gemm_shape> read(const std::string& text) {
  std::istringstream in(text);
  return read_shapes(in, "test.csv");
}

TEST(Shapes, ColumnsByNameInAnyOrder) {
  const auto shapes = read("# where from\nname,k,m,n,op,source\n\na, 3,1,2,TN,\"x\"\nb,6,4,5,,y\r\n");
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_EQ(shapes[0].name, "a");
  EXPECT_EQ(shapes[0].m, 1);
  EXPECT_EQ(shapes[0].n, 2);
  EXPECT_EQ(shapes[0].k, 3);
  ASSERT_TRUE(shapes[0].ops.has_value());
  EXPECT_EQ(shapes[0].ops->a, transpose::T);
  EXPECT_EQ(shapes[1].k, 6);
  EXPECT_FALSE(shapes[1].ops.has_value());
}

TEST(Shapes, AsSpreadsheetsWriteThem) {
  const auto shapes = read("\xEF\xBB\xBF\"m\",\"n\",\"k\",\"name\"\r\n\"1\",2,\"3\",\"a, \"\"b\"\"\"\r\n");
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].m, 1);
  EXPECT_EQ(shapes[0].k, 3);
  EXPECT_EQ(shapes[0].name, "a, \"b\"");
}

TEST(Shapes, BadFilesNameTheLine) {
  for (const char* text :
       {"m,n\n1,2\n", "m,n,k\n1,2\n", "m,n,k\n1,2,x\n", "m,n,k,op\n1,2,3,NX\n", "m,n,k\n1,2,\"3\n"}) {
    try {
      read(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("test.csv:"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read("m,n,k\n"), usage_error);
  EXPECT_THROW(read_shapes("/no/such/file.csv"), usage_error);
}

std::vector<gemm_list> read_as_lists(const std::string& text) {
  std::istringstream in(text);
  return read_lists(in, "test.csv");
}

TEST(Lists, OneNumberHoldsForAllProblems) {
  const auto lists = read_as_lists("# where from\nname,m,n,k,op\na,3  0 7,2,5 6 8,NT\n,4,5,6\n");
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].name, "a");
  ASSERT_TRUE(lists[0].ops.has_value());
  EXPECT_EQ(lists[0].ops->b, transpose::T);
  ASSERT_EQ(lists[0].problems.size(), 3u);
  const std::int64_t m[] = {3, 0, 7}, k[] = {5, 6, 8};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(lists[0].problems[i].m, m[i]);
    EXPECT_EQ(lists[0].problems[i].n, 2);
    EXPECT_EQ(lists[0].problems[i].k, k[i]);
  }
  EXPECT_EQ(lists[1].name, "test.csv:4");
  ASSERT_EQ(lists[1].problems.size(), 1u);
  EXPECT_FALSE(lists[1].ops.has_value());
}

TEST(Lists, BadFilesNameTheLine) {
  for (const char* text : {"m,n,k\n1 2,2,3 4 5\n", "m,n,k\n1 -2,2,3\n", "m,n,k\n1,0,3\n", "m,n,k\n1,2,x\n",
                           "m,n,k\n1,,3\n", "m,n,k\n0 0,2,3\n", "m,n,k\n"}) {
    try {
      read_as_lists(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("test.csv:"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read_lists("/no/such/file.csv"), usage_error);
  try {
    read("m,n,k\n1 2,2,3\n");
    ADD_FAILURE() << "a list is no shape";
  } catch (const usage_error& error) {
    EXPECT_NE(std::string(error.what()).find("batched --grouped"), std::string::npos) << error.what();
  }
}

// Bytes and places of A, B and C are those of all problems, one after the other.
TEST(Lists, ProblemsLieOneAfterTheOther) {
  gemm_case g{data_type::bf16_f32, transpose::N, transpose::T, matrix_layout::right};
  g.make_grouped("three", {{3, 2, 5}, {0, 4, 6}, {7, 1, 2}});
  EXPECT_EQ(g.batch, 3);
  EXPECT_EQ(g.m, 7);
  EXPECT_EQ(g.n, 4);
  EXPECT_EQ(g.k, 6);
  EXPECT_EQ(g.a_bytes(), 2u * (15 + 0 + 14));
  EXPECT_EQ(g.b_bytes(), 2u * (10 + 24 + 2));
  EXPECT_EQ(g.c_bytes(), 4u * (6 + 0 + 7));
  EXPECT_EQ(g.operations(), 2 * (30 + 14));
  EXPECT_EQ(g.traffic(), double(g.a_bytes() + g.b_bytes() + g.c_bytes()));
  const placed_problems places(g);
  ASSERT_EQ(places.size(), 3);
  EXPECT_EQ(places[2].extents.n, 1);
  EXPECT_EQ(places[2].a, 15);
  EXPECT_EQ(places[2].b, 34);
  EXPECT_EQ(places[2].c, 6);
  const auto second = one_of(g, places[2].extents);
  EXPECT_EQ(second.m, 7);
  EXPECT_EQ(second.batch, 0);
  EXPECT_EQ(second.op_b, transpose::T);
}

TEST(Shapes, ShippedFilesAreReadAndNameTheirSources) {
  // For keramos-perf batched --grouped; all others are for --shapes.
  const std::set<std::string> shipped_lists{"experts", "small_lists"};
  int files = 0;
  size_t lists = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KERAMOS_PERF_SHAPES)) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    const bool has_lists = shipped_lists.contains(entry.path().stem().string());
    lists += has_lists;
    EXPECT_GE(
        has_lists ? read_lists(entry.path().string()).size() : read_shapes(entry.path().string()).size(), 5u)
        << entry.path();
  }
  EXPECT_GE(files, 3);
  EXPECT_EQ(lists, shipped_lists.size());
}

}  // namespace
}  // namespace keramos::perf
