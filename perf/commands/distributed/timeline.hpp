// What the ranks of one product did, and when: the file of --timeline, which plot.py draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <keramos/dist/timeline.hpp>

namespace keramos::perf {

using timeline_of_ranks = std::vector<std::vector<dist::interval>>;  // by rank

// Of panels and sums on their way to a rank, and of the part of it in which the same rank was multiplying; of all ranks.
struct transfer_seconds {
  double all = 0, hidden = 0;
};
transfer_seconds seconds_of_transfers(const timeline_of_ranks& ranks);

// `product`: what was computed, as a row of the results has it. perf/README.md says what the fields mean.
nlohmann::ordered_json timeline_document(nlohmann::ordered_json context, nlohmann::ordered_json product,
                                         const timeline_of_ranks& ranks);

}  // namespace keramos::perf
