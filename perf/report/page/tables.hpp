// The tables of a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/read.hpp"

namespace keramos::perf {

std::string providers(const results_file& file);
std::string ranks(const results_file& file, const nlohmann::ordered_json& job);  // "" if it was no job
std::string results(const results_file& file);
std::string machine(const nlohmann::ordered_json& context);

// A value of a file for people: lists and objects without brackets and quotes, yes and no, figures with the unit that the
// name says.
std::string plain_text(const std::string& key, const nlohmann::ordered_json& value,
                       const std::string& type = {});

}  // namespace keramos::perf
