// JSON as users' files have it: whatever is wrong with one is a usage_error in our words that names the file.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "problem.hpp"

namespace keramos::perf {

// As text. Bytes that are no UTF-8, of an environment variable say, become U+FFFD.
std::string to_text(const nlohmann::ordered_json& value, int indent = -1);

// Throws usage_error for what is no JSON, or nested deeper than any file of ours.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& path);
nlohmann::ordered_json read_json(const std::string& path);

enum class json_kind { text, number, boolean, object, list };

// Throws usage_error if one of the keys of `object`, which `where` names ("results[3]"), is there and neither null nor
// of that kind. A number must be one that a measurement can have: from 0 to 1e30.
void require(json_kind kind, const nlohmann::ordered_json& object, std::initializer_list<const char*> keys,
             const std::string& path, const std::string& where);
// The same of one value.
void require(json_kind kind, const nlohmann::ordered_json& value, const std::string& path,
             const std::string& what);

// Runs f. What it finds to be of another type than it needs is a usage_error that names the file.
template <class F>
decltype(auto) reading(const std::string& path, F&& f) {
  try {
    return f();
  } catch (const nlohmann::json::exception&) {
    throw usage_error(path +
                      ": a part of it is not as keramos-perf writes it: write the path of another file");
  }
}

}  // namespace keramos::perf
