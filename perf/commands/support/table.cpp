#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "measure/core/json.hpp"

namespace keramos::perf {

const std::vector<std::string> support_forms = {"product", "strided batch", "pointer array",
                                                "list",    "epilogue",      "batched epilogue"};

namespace {

using json = nlohmann::ordered_json;

constexpr const char* schema = "keramos-perf-support/1";
constexpr const char* ops[] = {"NN", "NT", "NC", "TN", "TT", "TC", "CN", "CT", "CC"};

// As pages list them: short ones first, of each first what has C of its own type.
auto place_of(const tested_products& products) {
  static const std::vector<std::string> elements = {"f32", "f64", "c32",     "c64",     "f16", "bf16",
                                                    "i8",  "u8",  "f8_e4m3", "f8_e5m2", "i32"};
  const auto place = [](const auto& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) - list.begin();
  };
  const auto first = products.type.substr(0, products.type.find_first_of(" ,"));
  return std::tuple(place(elements, first), products.type, place(support_forms, products.form));
}

bool are_layouts(const std::string& text) {
  return text.size() == 3 && text.find_first_not_of("rls") == std::string::npos;
}

// The entry for a type and form, made if there is none.
tested_products& entry_of(support_recording& recording, const std::string& type, const std::string& form,
                          const std::string& path) {
  if (std::find(support_forms.begin(), support_forms.end(), form) == support_forms.end())
    throw usage_error(
        fmt::format("{}: no form is named '{}': write the path of what tests have written", path, form));
  for (auto& t : recording.tested)
    if (t.type == type && t.form == form) return t;
  recording.tested.push_back({type, form, {}});
  return recording.tested.back();
}

void add(tested_products& to, const std::string& op, const std::string& layouts, const std::string& path) {
  const bool known = std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
  if (!known || !are_layouts(layouts))
    throw usage_error(fmt::format("{}: '{} {}' is no op with three layouts: write the path of another file",
                                  path, op, layouts));
  to.layouts[op].insert(layouts);
}

void sort(support_recording& recording) {
  std::sort(recording.tested.begin(), recording.tested.end(),
            [](const auto& x, const auto& y) { return place_of(x) < place_of(y); });
}

}  // namespace

support_recording merge_support(const std::string& lines, const std::string& path,
                                const std::string& version) {
  return reading(path, [&] {
    support_recording all;
    all.version = version;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
      if (line.empty()) continue;
      const json product = parse_json(line, path);
      const auto text = [&](const char* key) { return product.at(key).get<std::string>(); };
      if (all.backend.empty()) all.backend = text("backend"), all.device = text("device");
      if (text("backend") != all.backend || text("device") != all.device)
        throw usage_error(
            fmt::format("{}: it has products of {} on {} and of {} on {}: write a file for each", path,
                        all.backend, all.device, text("backend"), text("device")));
      if (!product.at("passed").get<bool>())
        throw usage_error(fmt::format(
            "{}: a test of {}, {}, {} with layouts {} failed: write the path of a run that passes", path,
            text("type"), text("form"), text("op"), text("layouts")));
      add(entry_of(all, text("type"), text("form"), path), text("op"), text("layouts"), path);
    }
    if (all.tested.empty())
      throw usage_error(path + ": it has no products: write the path of what tests have written");
    sort(all);
    return all;
  });
}

support_recording read_support(const std::string& path) {
  const json document = read_json(path);
  return reading(path, [&] {
    if (document.at("schema") != schema)
      throw usage_error(path + ": not a recording of keramos-perf support: write the path of one");
    support_recording all;
    all.backend = document.at("backend");
    all.device = document.at("device");
    all.version = document.at("version");
    for (const json& t : document.at("tested")) {
      auto& entry = entry_of(all, t.at("type"), t.at("form"), path);
      for (const auto& [op, layouts] : t.at("layouts").items()) {
        std::istringstream in(layouts.get<std::string>());
        for (std::string each; in >> each;) add(entry, op, each, path);
      }
    }
    sort(all);
    return all;
  });
}

json to_json(const support_recording& recording) {
  json out{{"schema", schema},
           {"backend", recording.backend},
           {"device", recording.device},
           {"version", recording.version},
           {"tested", json::array()}};
  for (const auto& t : recording.tested) {
    json entry{{"type", t.type}, {"form", t.form}, {"layouts", json::object()}};
    for (const char* op : ops) {
      const auto at = t.layouts.find(op);
      if (at == t.layouts.end()) continue;
      std::string all;
      for (const auto& layouts : at->second) all += (all.empty() ? "" : " ") + layouts;
      entry["layouts"][op] = all;
    }
    out["tested"].push_back(entry);
  }
  return out;
}

std::string support_table(const support_recording& recording) {
  auto text = fmt::format("{} on {}, Keramos {}: mixes of layouts of A, B and C tested with each op, of {}\n",
                          recording.backend, recording.device, recording.version, mixes_of_layouts);
  const auto row = [](const std::string& type, const std::string& form) {
    return fmt::format("{:26}{:18}", type, form);
  };
  text += row("type", "form");
  for (const char* op : ops) text += fmt::format("{:>4}", op);
  text += '\n';
  for (const auto& t : recording.tested) {
    text += row(t.type, t.form);
    for (const char* op : ops) {
      const auto at = t.layouts.find(op);
      text += fmt::format("{:>4}", at == t.layouts.end() ? "-" : std::to_string(at->second.size()));
    }
    text += '\n';
  }
  return text;
}

}  // namespace keramos::perf
