// Kernels for matrix units are refused unless the compiler's option gave them sub-groups of 16 (backends/sycl/sub_groups.hpp).
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/backends/sycl/sub_groups.hpp>

#include "program.hpp"

namespace keramos::test::device {
namespace {

std::string refusal(const std::vector<std::string>& options) {
  program compiled("sub_groups.cpp", {}, options);
  try {
    backend::sycl_backend::require_sub_groups(compiled.kernel_of("lanes_of_sub_group"),
                                              compiled.queue().get_device());
  } catch (const launch_error& e) {
    return e.what();
  }
  return "";
}

TEST(SyclSubGroups, OfSixteenAreTaken) {
  const std::vector<std::string> options{"-fsycl-default-sub-group-size=16"};
  EXPECT_EQ(refusal(options), "");
  program compiled("sub_groups.cpp", {}, options);
  shared<int> lanes(compiled.queue(), 1, 0);
  compiled.on_teams_of_lanes("lanes_of_sub_group", 1, 64, lanes.data());
  EXPECT_EQ(lanes[0], 16);
}
TEST(SyclSubGroups, OfAnythingElseAreRefused) {
  EXPECT_NE(refusal({}).find("of any size, not of 16; "), std::string::npos);
  const std::string of_8 = refusal({"-fsycl-default-sub-group-size=8"});
  EXPECT_NE(of_8.find("of 8, not of 16; "), std::string::npos) << of_8;
  EXPECT_NE(of_8.find("-fsycl-default-sub-group-size=16"), std::string::npos) << of_8;
}

}  // namespace
}  // namespace keramos::test::device
