#include "protocol.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "measure/core/interrupt.hpp"

namespace keramos::perf {

using nlohmann::json;

json to_message(const gemm_case& g) {
  json list = json::array();
  for (const auto& p : g.list) list.push_back({p.m, p.n, p.k});
  return {int(g.type), int(g.op_a), int(g.op_b), int(g.layout), g.m,         g.n,
          g.k,         g.alpha,     g.beta,      g.batch,       int(g.form), list};
}
gemm_case case_from(const json& m) {
  gemm_case g{data_type(m[0].get<int>()),
              transpose(m[1].get<int>()),
              transpose(m[2].get<int>()),
              matrix_layout(m[3].get<int>()),
              m[4],
              m[5],
              m[6],
              m[7],
              m[8],
              m[9],
              batch_form(m[10].get<int>())};
  for (const auto& p : m[11]) g.list.push_back({p[0], p[1], p[2]});
  return g;
}

json to_message(const provider_info& i) { return {i.name, i.version, i.libraries, i.threads, i.on_host}; }
provider_info info_from(const json& m) {
  provider_info i;
  i.name = m[0];
  i.version = m[1];
  i.libraries = m[2].get<std::vector<std::string>>();
  i.threads = m[3];
  i.on_host = m[4];
  return i;
}

json to_message(const device_description& d) {
  return {d.backend, d.name, d.units, d.clock_hz, d.threads, d.is_host, d.kokkos_version, d.keramos_version};
}
device_description device_from(const json& m) {
  device_description d;
  d.backend = m[0];
  d.name = m[1];
  d.units = m[2];
  d.clock_hz = m[3];
  d.threads = m[4];
  d.is_host = m[5];
  d.kokkos_version = m[6];
  d.keramos_version = m[7];
  return d;
}

bool line_channel::send(const json& message) {
  const auto line = message.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const auto n = ::send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += std::size_t(n);
  }
  return true;
}

bool line_channel::receive(json& message) {
  return receive(message, std::chrono::steady_clock::time_point::max(), nullptr);
}

bool line_channel::receive(json& message, std::chrono::steady_clock::time_point end,
                           const std::function<void()>& waiting) {
  for (;;) {
    if (const auto end = pending_.find('\n'); end != std::string::npos) {
      message = json::parse(pending_.substr(0, end));
      pending_.erase(0, end + 1);
      return true;
    }
    // Not for ever: a signal may come between the look at it and the wait.
    pollfd coming{descriptor_, POLLIN, 0};
    const int ready = ::poll(&coming, 1, 200);
    throw_if_interrupted();
    if (ready <= 0) {
      if (std::chrono::steady_clock::now() >= end) throw no_answer();
      if (waiting) waiting();
      continue;
    }
    char buffer[4096];
    const auto n = ::read(descriptor_, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    pending_.append(buffer, std::size_t(n));
  }
}

}  // namespace keramos::perf
