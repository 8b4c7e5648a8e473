// Recordings of tested products: what is made of the lines of tests, and what is refused.
#include "commands/support/table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/core/problem.hpp"

namespace keramos::perf {
namespace {

std::string line(const std::string& type, const std::string& form, const std::string& op,
                 const std::string& layouts, bool passed = true, const std::string& backend = "serial") {
  return R"({"backend": ")" + backend + R"(", "device": "CPU", "type": ")" + type + R"(", "form": ")" + form +
         R"(", "op": ")" + op + R"(", "layouts": ")" + layouts + R"(", "passed": )" +
         (passed ? "true" : "false") + "}\n";
}
std::string refusal(const std::string& lines) {
  try {
    merge_support(lines, "lines.json", "1.0");
  } catch (const usage_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Support, LinesAreMergedInOrder) {
  const auto all = merge_support(
      line("i8 x u8 to i32", "product", "NN", "rrr") + line("f16 to f32", "list", "NT", "rls") +
          line("f16 to f32", "product", "NT", "rls") + line("f16 to f32", "product", "NT", "rrr") +
          line("f16 to f32", "product", "NT", "rls") + line("f16 to f32", "product", "CC", "sss"),
      "lines.json", "1.0");
  EXPECT_EQ(all.backend, "serial");
  ASSERT_EQ(all.tested.size(), 3u);
  EXPECT_EQ(all.tested[0].type, "f16 to f32");
  EXPECT_EQ(all.tested[0].form, "product");
  EXPECT_EQ(all.tested[0].layouts.at("NT"), (std::set<std::string>{"rls", "rrr"}));
  EXPECT_EQ(all.tested[1].form, "list");
  EXPECT_EQ(all.tested[2].type, "i8 x u8 to i32");
  EXPECT_EQ(support_table(all),
            "serial on CPU, Keramos 1.0: mixes of layouts of A, B and C tested with each op, of 27\n"
            "type                      form                NN  NT  NC  TN  TT  TC  CN  CT  CC\n"
            "f16 to f32                product              -   2   -   -   -   -   -   -   1\n"
            "f16 to f32                list                 -   1   -   -   -   -   -   -   -\n"
            "i8 x u8 to i32            product              1   -   -   -   -   -   -   -   -\n");
  EXPECT_EQ(to_json(all)["tested"][0]["layouts"]["NT"], "rls rrr");
}

TEST(Support, WhatIsNoRecordIsRefused) {
  EXPECT_EQ(refusal(line("f32", "product", "NN", "rrr")), "accepted");
  EXPECT_NE(refusal(line("f32", "product", "NN", "rrr") + line("f32", "product", "NN", "rrl", false))
                .find("failed"),
            std::string::npos);
  EXPECT_NE(refusal(line("f32", "product", "NN", "rrr") + line("f32", "product", "NN", "rrl", true, "cuda"))
                .find("a file for each"),
            std::string::npos);
  EXPECT_NE(refusal(line("f32", "heap", "NN", "rrr")).find("'heap'"), std::string::npos);
  EXPECT_NE(refusal(line("f32", "product", "NX", "rrr")).find("NX"), std::string::npos);
  EXPECT_NE(refusal(line("f32", "product", "NN", "rr")).find("'NN rr'"), std::string::npos);
  EXPECT_NE(refusal("").find("no products"), std::string::npos);
  EXPECT_NE(refusal("{}\n").find("lines.json"), std::string::npos);
}

}  // namespace
}  // namespace keramos::perf
