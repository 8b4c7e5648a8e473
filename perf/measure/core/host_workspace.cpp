#include "host_workspace.hpp"

#include <cstring>
#include <new>

#include "parallel.hpp"
#include "random.hpp"
#include "visit_type.hpp"

namespace keramos::perf {
namespace {

constexpr std::size_t alignment = 256;  // any vector load's

std::size_t padded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

char* allocate(std::size_t bytes) {
  if (void* p = std::aligned_alloc(alignment, bytes)) return static_cast<char*>(p);
  throw std::bad_alloc();
}

template <class T>
void fill(char* bytes, std::int64_t elements, const random_stream& random) {
  T* const data = reinterpret_cast<T*>(bytes);
  parallel_blocks(elements, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) data[i] = random.value<T>(i);
  });
}

}  // namespace

host_workspace::host_workspace(const gemm_case& g, std::int64_t sets, std::uint64_t seed)
    : problem_(g), sets_(sets) {
  const auto a_stride = padded(g.a_bytes()), b_stride = padded(g.b_bytes()), c_stride = padded(g.c_bytes());
  visit_type(g.type, [&](auto types) {
    using of = decltype(types);
    a_ = make<drawn_as<typename of::a, typename of::c>>(a_stride, seed, 1);
    b_ = make<drawn_as<typename of::b, typename of::c>>(b_stride, seed, 2);
    c_ = make<typename of::c>(c_stride, seed, 3);
  });
  if (g.beta != 0) {
    first_c_.reset(allocate(c_stride));
    std::memcpy(first_c_.get(), c_.get(), c_stride);
  }
  for (std::int64_t i = 0; i < sets; ++i) {
    operands_.push_back({a_.get() + i * a_stride, b_.get() + i * b_stride, c_.get() + i * c_stride});
  }
}

template <class T>
host_workspace::memory host_workspace::make(std::size_t stride, std::uint64_t seed,
                                            std::uint64_t stream) const {
  memory x(allocate(stride * sets_));
  const random_stream random(seed, stream);
  fill<T>(x.get(), static_cast<std::int64_t>(stride * sets_ / sizeof(T)), random);
  return x;
}

std::size_t host_workspace::c_bytes() const { return problem_.c_bytes(); }

void host_workspace::reset_c() {
  if (problem_.beta != 0) {
    std::memcpy(c_.get(), first_c_.get(), c_bytes());
  } else {
    std::memset(c_.get(), 0xff, c_bytes());  // all bits set is a NaN
  }
}

}  // namespace keramos::perf
