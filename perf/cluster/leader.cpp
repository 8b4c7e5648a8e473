#include "leader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "bind.hpp"
#include "measure/core/host.hpp"
#include "measure/core/interrupt.hpp"
#include "measure/core/json.hpp"
#include "report/context.hpp"
#include "summary.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;
using clock = std::chrono::steady_clock;

}  // namespace

job_leader::job_leader(communicator& ranks, const gemm_command_options& options, std::uint64_t seed,
                       int& argc, char** argv)
    : ranks_(ranks),
      options_(options),
      seed_(seed),
      pulse_(options.rank_timeout_s),
      members_(std::size_t(ranks.size())),
      output_(options.format, options.output) {
  const auto bound = bind_rank(ranks);
  beat();
  progress_.show(fmt::format("starting {} ranks", ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    members_[r].description = {{"rank", r}, {"host", "unknown"}, {"status", "starting"}};
  }
  session_ = std::make_unique<gemm_session>(options, argc, argv);
  session_->set_waiting([this] { beat(); });
  members_[0].now = state::idle;
  members_[0].description = describe_rank(ranks, session_->context(), bound);
}

int job_leader::run() {
  std::string incomplete;
  try {
    output_.context = session_->context();
    earlier_ = resume(options_, output_, ranks_.size());
    if (earlier_.seed() != 0) seed_ = earlier_.seed();
    good_ = earlier_.good() && session_->has_all();
    output_.context["seed"] = seed_;
    output_.context["ranks_at"] = options_.isolated ? "one at a time" : "all at once";
    wait_while(state::starting, seconds(options_.rank_timeout_s));
    progress_.clear();
    for (const auto& line : session_->unavailable()) fmt::print(stderr, "keramos-perf: {}\n", line);
    output_.print(headline(output_.context));
    output_.print(fmt::format("{}{} ranks, {}\n\n", earlier_.text(), ranks_.size(),
                              options_.isolated ? "one at a time" : "all at once"));
    save();
    if (!options_.isolated) warn();
    measure_all();
  } catch (const interruption& interrupted) {
    progress_.clear();
    incomplete = fmt::format("interrupted by signal {}; the cases before are here", interrupted.signal);
    hear_last_words();
  }
  return end(incomplete);
}

void job_leader::measure_all() {
  time_left left(session_->costs());
  for (std::size_t i = 0; i < session_->cases().size(); ++i) {
    if (earlier_.has(session_->cases()[i])) continue;
    progress_.show(fmt::format("{}  {}", session_->title(i), left.text()));
    const auto start = clock::now();
    if (!options_.isolated) {
      for (int r = 1; r < ranks_.size(); ++r) order(r, i);
    }
    measure_here(i);
    // A rank that takes far longer than this one is as good as dead.
    const seconds limit = std::max(seconds(options_.rank_timeout_s), 5 * seconds(clock::now() - start));
    if (!options_.isolated) wait_while(state::measuring, limit);
    for (int r = 1; options_.isolated && r < ranks_.size(); ++r) {
      order(r, i);
      wait_while(state::measuring, limit);
    }
    left.part_done();
    progress_.clear();
    summarize(false);
    save();
  }
}

void job_leader::beat() {
  if (!pulse_.is_due()) return;
  const auto who = to_text({{"host", host_name()}, {"pid", getpid()}});
  for (int r = 1; r < ranks_.size(); ++r) ranks_.send(r, job_tag::alive, who);
}

void job_leader::measure_here(std::size_t i) {
  const auto outcome = session_->measure(i, seed_, [this](const std::string&) { beat(); });
  take_rows(0, rows_message(outcome, i));
}

void job_leader::order(int rank, std::size_t i) {
  if (members_[rank].now != state::idle) return;
  members_[rank].now = state::measuring;
  members_[rank].wanted = i;
  ranks_.send(rank, job_tag::measure, to_text({{"case", i}, {"seed", seed_}}));
}

void job_leader::wait_while(state awaited, seconds limit) {
  const auto start = clock::now();
  const auto is_awaited = [&](const member& m) { return m.now == awaited; };
  const auto is_silent = [&](const member& m) {
    return is_awaited(m) && clock::now() - std::max(start, m.heard) >= limit;
  };
  while (std::any_of(members_.begin(), members_.end(), is_awaited)) {
    throw_if_interrupted();
    beat();
    rank_message message;
    if (ranks_.poll(message)) {
      take(message);
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (int r = 0; r < ranks_.size(); ++r) {
      if (is_silent(members_[r])) {
        fail(r, fmt::format("no word from it for {:.0f} s: it died or hangs", limit.count()));
      }
    }
  }
}

void job_leader::take(const rank_message& message) {
  auto& from = members_[message.from];
  from.heard = clock::now();
  if (message.tag == job_tag::alive) return;
  const auto content = json::parse(message.text);
  if (from.now == state::failed) return;  // it was given up
  if (message.tag == job_tag::hello) {
    from.description = content;
    from.now = state::idle;
  } else if (message.tag == job_tag::rows) {
    take_rows(message.from, content);
    from.now = state::idle;
  } else if (content.value("signal", false)) {
    from.now = state::interrupted;
    from.description["status"] = "interrupted";
  } else {
    if (content.contains("host")) from.description["host"] = content["host"];
    fail(message.from, content.value("reason", "it gave no reason"));
  }
}

void job_leader::take_rows(int rank, const json& message) {
  good_ = good_ && message.value("good", false);
  const auto name = fmt::format("rank {} on {}", rank, members_[rank].description.value("host", "?"));
  for (const auto& complaint : message.value("complaints", json::array())) {
    output_.print(fmt::format("  {}: {}\n", name, complaint.get<std::string>()));
  }
  for (const auto& row : message["rows"]) {
    json with_rank;
    with_rank["rank"] = rank;
    for (const auto& [key, value] : row.items()) with_rank[key] = value;
    output_.add(std::move(with_rank));
  }
}

void job_leader::fail(int rank, const std::string& reason) {
  members_[rank].now = state::failed;
  members_[rank].description["status"] = "failed";
  members_[rank].description["reason"] = reason;
  progress_.clear();
  output_.print(fmt::format("  FAILED: rank {} on {}: {}\n", rank,
                            members_[rank].description.value("host", "?"), reason));
}

// When a rank dies, launchers interrupt all others: those say so, it does not. Open MPI 6 kills a quarter
// of a second later.
void job_leader::hear_last_words() {
  const auto start = clock::now();
  const auto is_silent = [](const member& m) {
    return m.now == state::starting || m.now == state::idle || m.now == state::measuring;
  };
  while (clock::now() - start < std::chrono::milliseconds(120)) {
    rank_message message;
    if (ranks_.poll(message)) {
      take(message);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (std::none_of(members_.begin() + 1, members_.end(), is_silent)) break;
  }
  members_[0].description["status"] = "interrupted";
  for (int r = 1; r < ranks_.size(); ++r) {
    if (is_silent(members_[r])) fail(r, "no answer when the job was interrupted: it died or hangs");
  }
}

std::vector<std::string> job_leader::hosts() const {
  std::vector<std::string> all;
  for (const auto& m : members_) all.push_back(m.description.value("host", "unknown"));
  return all;
}

void job_leader::summarize(bool last) {
  const auto summary = summarize_job(output_.rows(), hosts(), options_.outlier);
  output_.print(lines_of_case(summary, hosts(), cases_told_));
  cases_told_ = summary.cases.size();
  output_.more["job"] = to_json(summary, options_.outlier);
  if (last) output_.print('\n' + text_of_members(summary, options_.outlier));
}

void job_leader::warn() {
  const auto shared = shared_devices(output_.context["ranks"]);
  if (!shared.empty()) output_.context["warnings"] = shared;
  for (const auto& line : shared) output_.print(fmt::format("WARNING: {}\n", line));
}

void job_leader::save() {
  output_.context["ranks"] = json::array();
  for (const auto& m : members_) output_.context["ranks"].push_back(m.description);
  output_.save();
}

std::string job_leader::failures() const {
  std::string text;
  for (const auto& m : members_) {
    if (m.now != state::failed) continue;
    text += fmt::format("{}rank {} on {} failed: {}", text.empty() ? "" : "; ",
                        m.description.at("rank").get<int>(), m.description.value("host", "?"),
                        m.description.value("reason", ""));
  }
  return text;
}

int job_leader::end(const std::string& incomplete_because) {
  auto why = failures();
  if (why.empty()) why = incomplete_because;
  for (int r = 0; r < ranks_.size(); ++r) {
    auto& m = members_[r];
    if (m.now != state::idle) continue;
    if (incomplete_because.empty()) m.description["status"] = "done";
    if (r > 0) ranks_.send(r, job_tag::end, "{}");
  }
  summarize(true);
  save();
  output_.finish(why);
  session_.reset();
  // Somebody does not answer, or the launcher is ending all.
  const bool failed = !failures().empty();
  if (!why.empty()) ranks_.abort(failed ? 1 : 128 + interrupting_signal());
  ranks_.finish();
  return good_ ? 0 : 1;
}

}  // namespace keramos::perf
