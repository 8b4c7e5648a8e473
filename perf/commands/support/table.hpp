// Which products the library's tests have done: what keramos-perf support prints, from recordings that are made of the lines
// which tests write (tests/support.hpp).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace keramos::perf {

// Products of one type and form.
struct tested_products {
  std::string type;  // "f16 to f32"
  std::string form;  // one of support_forms
  // Layouts of A, B and C by op ("NT"), each r (rows run through memory), l (columns do) or s (strided): "rls".
  std::map<std::string, std::set<std::string>> layouts;
};

struct support_recording {
  std::string backend, device;
  std::string version;  // of Keramos
  std::vector<tested_products> tested;
};

extern const std::vector<std::string> support_forms;
constexpr int mixes_of_layouts = 27;

// From lines of tests of one backend. Throws usage_error, of a product whose test failed too.
support_recording merge_support(const std::string& lines, const std::string& path,
                                const std::string& version);

// Of a file; throws usage_error.
support_recording read_support(const std::string& path);
nlohmann::ordered_json to_json(const support_recording& recording);

// A line for each type and form, with how many of the 27 mixes of layouts were tested with each op.
std::string support_table(const support_recording& recording);

}  // namespace keramos::perf
