#include "json.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

constexpr int deepest = 100;

bool is(json_kind kind, const json& value) {
  switch (kind) {
    case json_kind::text:
      return value.is_string();
    case json_kind::number:
      return value.is_number();
    case json_kind::boolean:
      return value.is_boolean();
    case json_kind::object:
      return value.is_object();
    case json_kind::list:
      break;
  }
  return value.is_array();
}

const char* name(json_kind kind) {
  constexpr const char* names[] = {"a text", "a number", "true or false", "an object", "a list"};
  return names[int(kind)];
}

}  // namespace

std::string to_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

json parse_json(const std::string& text, const std::string& path) {
  bool too_deep = false;
  // What is too deep is not kept: the library copies and writes by recursion.
  const auto keep = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > deepest;
    return depth <= deepest;
  };
  auto document = json::parse(text, keep, false);
  if (too_deep)
    throw usage_error(fmt::format("{}: nested more than {} deep: write another path", path, deepest));
  if (document.is_discarded())
    throw usage_error(fmt::format("{}: not JSON: write another path, or mend it", path));
  return document;
}

json read_json(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  if (!in || !(text << in.rdbuf())) {
    throw usage_error(fmt::format("{} cannot be read: write the path of a results file", path));
  }
  return parse_json(text.str(), path);
}

void require(json_kind kind, const json& value, const std::string& path, const std::string& what) {
  if (value.is_null()) return;
  if (!is(kind, value)) {
    throw usage_error(fmt::format("{}: {} is {}, and must be {}: write it so, or another path", path, what,
                                  to_text(value).substr(0, 40), name(kind)));
  }
  if (kind == json_kind::number && !(value.get<double>() >= 0 && value.get<double>() <= 1e30)) {
    throw usage_error(fmt::format("{}: {} is {}, which no measurement can be: write another path", path, what,
                                  to_text(value).substr(0, 40)));
  }
}

void require(json_kind kind, const json& object, std::initializer_list<const char*> keys,
             const std::string& path, const std::string& where) {
  for (const char* key : keys) {
    if (const auto at = object.find(key); at != object.end()) require(kind, *at, path, where + '.' + key);
  }
}

}  // namespace keramos::perf
