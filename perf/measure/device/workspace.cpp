#include <cstring>

#include "machine.hpp"
#include "machine_queue.hpp"
#include "measure/core/parallel.hpp"
#include "measure/core/random.hpp"
#include "measure/core/visit_type.hpp"

namespace keramos::perf {
namespace {

using memory_space = keramos::default_execution_space::memory_space;
using device_bytes = Kokkos::View<char*, memory_space>;
using host_bytes = decltype(Kokkos::create_mirror_view(device_bytes()));

// Every set is aligned for any vector load.
std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

struct workspace::state {
  // One of A, B and C in all sets.
  struct matrix {
    std::size_t stride = 0;  // bytes from set to set
    device_bytes device;
    host_bytes host;  // on hosts the same memory

    char* device_of(std::int64_t set) const { return device.data() + set * stride; }
    char* host_of(std::int64_t set) const { return host.data() + set * stride; }
  };

  gemm_case problem;
  std::int64_t sets;
  matrix a, b, c;
  host_bytes first_c;  // the initial C of the first set, if beta reads it
  gemm_operands operands;

  void allocate(matrix& x, std::size_t bytes) {
    x.stride = padded(bytes);
    x.device =
        device_bytes(Kokkos::view_alloc("keramos::perf", Kokkos::WithoutInitializing), x.stride * sets);
    x.host = Kokkos::create_mirror_view(x.device);
  }

  template <class T>
  void fill(const matrix& x, std::uint64_t seed, std::uint64_t stream) {
    const random_stream random(seed, stream);
    const auto per_set = static_cast<std::int64_t>(x.stride / sizeof(T));
    T* const data = reinterpret_cast<T*>(x.host.data());
    parallel_blocks(per_set * sets, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) data[i] = random.value<T>(i);
    });
    to_device(x);
  }

  template <class View>
  auto first_set(const View& c_sets) const {
    return Kokkos::subview(c_sets, std::make_pair(std::size_t(0), c.stride));
  }

  // Between the same memory, as on hosts, Kokkos copies nothing.
  static void to_device(const matrix& x) { Kokkos::deep_copy(x.device, x.host); }
};

workspace::workspace(const gemm_case& g, std::int64_t sets, std::uint64_t seed)
    : state_(std::make_unique<state>()) {
  auto& s = *state_;
  s.problem = g;
  s.sets = sets;
  s.allocate(s.a, g.a_bytes());
  s.allocate(s.b, g.b_bytes());
  s.allocate(s.c, g.c_bytes());
  visit_type(g.type, [&](auto types) {
    using of = decltype(types);
    s.fill<drawn_as<typename of::a, typename of::c>>(s.a, seed, 1);
    s.fill<drawn_as<typename of::b, typename of::c>>(s.b, seed, 2);
    s.fill<typename of::c>(s.c, seed, 3);
  });
  if (g.beta != 0) {
    s.first_c = host_bytes("keramos::perf", s.c.stride);
    std::memcpy(s.first_c.data(), s.c.host.data(), s.c.stride);
  }
  for (std::int64_t i = 0; i < sets; ++i) {
    s.operands.device.push_back({s.a.device_of(i), s.b.device_of(i), s.c.device_of(i)});
    s.operands.host.push_back({s.a.host_of(i), s.b.host_of(i), s.c.host_of(i)});
  }
}

workspace::~workspace() = default;
const gemm_operands& workspace::operands() const { return state_->operands; }

void workspace::reset_c(bool on_host) {
  auto& s = *state_;
  const auto bytes = s.problem.c_bytes();
  if (s.problem.beta != 0) {
    std::memcpy(s.c.host.data(), s.first_c.data(), bytes);
  } else {
    std::memset(s.c.host.data(), 0xff, bytes);  // all bits set is a NaN
  }
  if (!on_host) Kokkos::deep_copy(s.first_set(s.c.device), s.first_set(s.c.host));
}

const void* workspace::fetch_c(bool on_host) {
  auto& s = *state_;
  if (!on_host) Kokkos::deep_copy(s.first_set(s.c.host), s.first_set(s.c.device));
  return s.c.host.data();
}

const void* workspace::initial_c() const { return state_->first_c.data(); }

}  // namespace keramos::perf
