#include "step.hpp"

#include <cstdint>

#include "device/machine_queue.hpp"

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
}  // namespace ladder

namespace {

class ladder_provider : public gemm_provider {
 public:
  explicit ladder_provider(const ladder_step& step) : step_(step) {}

  provider_info info() const override { return {step_.name, KERAMOS_VERSION, {}, host_threads(), false}; }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.device;
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue([&] {
      for (std::int64_t i = 0; i < calls; ++i) step_.enqueue(case_, sets_[i % sets_.size()]);
    });
  }

 private:
  ladder_step step_;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::vector<ladder_step> ladder_steps(data_type type, int width) {
  switch (type) {
    case data_type::f32:
      return ladder::steps_for<float>(width);
    case data_type::f64:
      return ladder::steps_for<double>(width);
    case data_type::i32:
      break;
  }
  return ladder::steps_for<std::uint32_t>(width);
}

std::unique_ptr<gemm_provider> make_ladder_provider(const ladder_step& step) {
  return std::make_unique<ladder_provider>(step);
}

}  // namespace keramos::perf
