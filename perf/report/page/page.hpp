// One HTML page that says everything about a results file, for someone who has only that page.
#pragma once

#include <string>

#include "report/read.hpp"

namespace keramos::perf {

// Self-contained: styles and plots (SVG) are inside, nothing is loaded. The file's rows are in it as CSV
// to be saved. `document`: the file as it is written.
std::string report_page(const results_file& file, const nlohmann::ordered_json& document);

// Of a document whose rows are of no products (of overhead, of roofline): a table of them, and the machine.
std::string rows_page(const nlohmann::ordered_json& document, const std::string& rows);

}  // namespace keramos::perf
