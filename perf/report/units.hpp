// Figures as people say them: three digits, and a unit that fits the magnitude.
#pragma once

#include <string>

namespace keramos::perf {

// "812", "81.2", "8.12": three digits. "" of 0, which stands for what was not measured.
std::string three_digits(double value);

// All of these are "" of 0. A no-break space stands before the unit.
std::string time_text(double seconds);                                   // "16.2 µs"
std::string rate_text(double giga, const std::string& what = "FLOP/s");  // "1.24 TFLOP/s"
std::string bytes_text(double bytes);                                    // "64.0 MiB"
std::string hertz_text(double hertz);                                    // "1.98 GHz"
std::string percent_text(double fraction);                               // "54 %", below ten "5.4 %"

// "FLOP/s", for integers "OP/s".
std::string operations_unit(const std::string& type);

// The name of a figure in a file and what it says, for people: "memory_bytes", 1073741824 are "memory" and "1.00 GiB".
struct named_text {
  std::string name, text;
};
// `type` is that of the products whose rates these may be.
named_text named_figure(const std::string& key, double value, const std::string& type = {});

}  // namespace keramos::perf
