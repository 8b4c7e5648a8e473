#include "timeline.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace keramos::perf {

transfer_seconds seconds_of_transfers(const timeline_of_ranks& ranks) {
  transfer_seconds seconds;
  for (const auto& intervals : ranks)
    for (const auto& x : intervals) {
      if (x.what != dist::activity::panels && x.what != dist::activity::exchange_sums) continue;
      seconds.all += x.end - x.begin;
      for (const auto& p : intervals)  // a rank has one product at a time
        if (p.what == dist::activity::product)
          seconds.hidden += std::max(0.0, std::min(x.end, p.end) - std::max(x.begin, p.begin));
    }
  return seconds;
}

nlohmann::ordered_json timeline_document(nlohmann::ordered_json context, nlohmann::ordered_json product,
                                         const timeline_of_ranks& ranks) {
  const auto transfers = seconds_of_transfers(ranks);
  nlohmann::ordered_json document{{"schema", "keramos-perf-timeline/1"},
                                  {"context", std::move(context)},
                                  {"product", std::move(product)},
                                  {"transfers_s", transfers.all},
                                  {"hidden_s", transfers.hidden},
                                  {"hidden_share", nullptr},
                                  {"ranks", nlohmann::ordered_json::array()}};
  if (transfers.all > 0) document["hidden_share"] = transfers.hidden / transfers.all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    auto intervals = nlohmann::ordered_json::array();
    for (const auto& x : ranks[rank]) {
      nlohmann::ordered_json one{{"what", dist::to_string(x.what)},
                                 {"step", nullptr},
                                 {"begin_s", x.begin},
                                 {"end_s", x.end},
                                 {"bytes", x.bytes},
                                 {"multiply_adds", x.multiply_adds}};
      if (x.step >= 0) one["step"] = x.step;
      intervals.push_back(std::move(one));
    }
    document["ranks"].push_back({{"rank", rank}, {"intervals", std::move(intervals)}});
  }
  return document;
}

}  // namespace keramos::perf
