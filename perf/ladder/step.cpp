#include "step.hpp"

#include <cstdint>
#include <optional>

#include <keramos/base/float16.hpp>

#include "measure/device/machine_queue.hpp"

namespace keramos::perf {

namespace ladder {
template <class T>
std::vector<ladder_step> steps_for(int width);
template <>
std::vector<ladder_step> steps_for<float>(int width);
template <>
std::vector<ladder_step> steps_for<double>(int width);
template <>
std::vector<ladder_step> steps_for<std::uint32_t>(int width);
template <>
std::vector<ladder_step> steps_for<bfloat16>(int width);
}  // namespace ladder

namespace {

constexpr std::string_view prefix = "ladder-";

class ladder_provider : public gemm_provider {
 public:
  ladder_provider(std::string name, int width, std::string step)
      : name_(std::move(name)), width_(width), step_(std::move(step)) {}

  provider_info info() const override { return {name_, KERAMOS_VERSION, {}, host_threads(), false}; }
  std::string cannot(const gemm_case& g) const override {
    const auto found = find_step(g);
    if (!found) return "the ladder has no such step for this type";
    const auto& s = *found;
    if (g.layout != matrix_layout::right || g.op_a != transpose::N || g.alpha != 1 || g.beta != 0)
      return "the ladder computes C = A B of row-major matrices";
    if ((g.op_b != transpose::N) != s.transposed_b)
      return s.transposed_b ? "this step takes B transposed" : "this step takes B as it is";
    return s.cannot(g);
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.device;
    enqueue_ = find_step(g).value().enqueue;
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue([&] {
      for (std::int64_t i = 0; i < calls; ++i) enqueue_(case_, sets_[i % sets_.size()]);
    });
  }

 private:
  std::optional<ladder_step> find_step(const gemm_case& g) const {
    for (const auto& s : ladder_steps(g.type, width_)) {
      if (s.name == step_) return s;
    }
    return std::nullopt;
  }

  std::string name_;
  int width_;
  std::string step_;
  gemm_case case_;
  std::vector<operand_set> sets_;
  void (*enqueue_)(const gemm_case&, const operand_set&) = nullptr;
};

}  // namespace

std::string ladder_provider_name(int width, const ladder_step& step) {
  return std::string(prefix) + std::to_string(width) + "/" + step.name;
}

bool is_ladder_provider_name(const std::string& name) { return name.starts_with(prefix); }

std::unique_ptr<gemm_provider> make_ladder_provider(const std::string& name) {
  const auto slash = name.find('/');
  const int width = std::stoi(name.substr(prefix.size(), slash - prefix.size()));
  return std::make_unique<ladder_provider>(name, width, name.substr(slash + 1));
}

std::vector<ladder_step> ladder_steps(data_type type, int width) {
  if (type == data_type::f32) return ladder::steps_for<float>(width);
  if (type == data_type::f64) return ladder::steps_for<double>(width);
  if (type == data_type::i32) return ladder::steps_for<std::uint32_t>(width);
  if (type == data_type::bf16) return ladder::steps_for<bfloat16>(width);
  return {};
}

std::string ladder_steps_missing([[maybe_unused]] data_type type) {
#if !defined(KERAMOS_PERF_HAS_HOPPER_STEPS)
  if (type == data_type::bf16)
    return "no steps 3 to 8 for bf16: they are for GPUs of compute capability 9.0, which Kokkos must be "
           "compiled for";
#endif
  return {};
}

}  // namespace keramos::perf
