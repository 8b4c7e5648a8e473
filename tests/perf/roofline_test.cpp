// The roofline of kernels whose intensity is known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "commands/roofline/model.hpp"
#include "measure/core/host_peak.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf {
namespace {

// 100 GB/s and 1000 GFLOP/s: the ridge is at 10.
device_spec machine_of_round_numbers() {
  device_spec spec;
  spec.name = "round";
  spec.kind = "gpu";
  spec.bandwidth_gbs = {{"memory", 100}, {"L1", 2000}};
  spec.peak_gflops = {{"f32", 1000}, {"f64", 500}};
  spec.matrix_peak_gflops = {{"f64", 1000}, {"tf32", 8000}};
  return spec;
}

roofline_kernel kernel(double gflops, double memory, double cache = 0, const char* type = "f32") {
  return {"synthetic", "", type, gflops, memory, cache};
}

TEST(Roofline, RidgePoints) {
  const auto spec = machine_of_round_numbers();
  EXPECT_EQ(ridge_point(spec, "f32"), 10);
  EXPECT_EQ(ridge_point(spec, "f64"), 10);  // of the matrix units
  EXPECT_EQ(compute_roof(spec, "f64").name, "f64 matrix peak");
  EXPECT_EQ(compute_roof(spec, "f32").name, "f32 peak");
}

TEST(Roofline, HalvesHaveTheRoofOfTheirMatrixUnitsIfItIsKnown) {
  auto spec = machine_of_round_numbers();
  EXPECT_EQ(compute_roof(spec, "bf16").attainable, 0);
  spec.matrix_peak_gflops.push_back({"bf16", 16000});
  EXPECT_EQ(compute_roof(spec, "bf16").name, "bf16 matrix peak");
  EXPECT_EQ(compute_roof(spec, "bf16_f32").name, "bf16 matrix peak");
  EXPECT_EQ(compute_roof(spec, "bf16_f32").attainable, 16000);
  EXPECT_EQ(compute_roof(spec, "f16_f32").attainable, 0);
}

TEST(Roofline, ComplexNumbersHaveTheRoofOfTheirParts) {
  const auto spec = machine_of_round_numbers();
  EXPECT_EQ(compute_roof(spec, "c32").name, "f32 peak");
  EXPECT_EQ(compute_roof(spec, "c64").name, "f64 matrix peak");
  EXPECT_EQ(compute_roof(spec, "c64").attainable, 1000);
}

TEST(Roofline, SyntheticKernelsLandWhereTheyShould) {
  const auto spec = machine_of_round_numbers();
  const auto left = place(kernel(30, 0.5), spec);
  EXPECT_EQ(left.bound.name, "memory");
  EXPECT_EQ(left.bound.attainable, 50);
  EXPECT_EQ(left.fraction, 0.6);
  const auto right = place(kernel(250, 80), spec);
  EXPECT_EQ(right.bound.name, "f32 peak");
  EXPECT_EQ(right.fraction, 0.25);
  // Plenty of reuse in cache hides memory, but every operand is asked for: 0.25 FLOP a byte of L1.
  const auto naive = place(kernel(400, 600, 0.25), spec);
  EXPECT_EQ(naive.bound.name, "L1");
  EXPECT_EQ(naive.bound.attainable, 500);
  EXPECT_EQ(naive.fraction, 0.8);
  EXPECT_EQ(naive.bounds.size(), 3u);
  // What the spec does not know does not bound.
  EXPECT_EQ(place(kernel(10, 1e9, 0, "i32"), spec).bound.name, "memory");
  EXPECT_EQ(place(kernel(10, 1), device_spec()).bound.attainable, 0);
}

TEST(Roofline, RowsOfResultsFiles) {
  const auto document =
      nlohmann::ordered_json::parse(R"({"schema": "keramos-perf/1", "context": {}, "results": [
    {"provider": "keramos", "type": "f32", "op_a": "N", "op_b": "N", "m": 100, "n": 100, "k": 100,
     "median_s": 1e-3, "gflops": 2.0},
    {"provider": "ladder-16/naive", "type": "f64", "op_a": "N", "op_b": "N", "m": 100, "n": 100, "k": 100,
     "median_s": 1e-3, "gflops": 2.0, "global_bytes": 16e6},
    {"provider": "batched", "type": "f32", "m": 10, "n": 10, "k": 10, "batch": 1000, "median_s": 1e-3, "gflops": 2.0},
    {"provider": "grouped", "type": "f32", "m": 10, "n": 10, "k": 10, "batch": 2, "extents": [[10, 10, 10], [5, 4, 2]],
     "median_s": 1e-3, "gflops": 2.0},
    {"provider": "halves", "type": "f16_f32", "op_a": "N", "op_b": "N", "m": 100, "n": 100, "k": 100,
     "median_s": 1e-3, "gflops": 2.0},
    {"provider": "stencil", "type": "f32", "memory_bytes": 8e6, "median_s": 1e-3, "gflops": 1.0},
    {"provider": "unknown", "type": "f32", "median_s": 1e-3, "gflops": 1.0},
    {"provider": "unavailable", "type": "f32", "m": 1, "n": 1, "k": 1, "median_s": null, "gflops": null}]})");
  int left_out = 0;
  const auto kernels = kernels_of(document, "file", left_out);
  EXPECT_EQ(left_out, 1);
  ASSERT_EQ(kernels.size(), 6u);
  EXPECT_DOUBLE_EQ(kernels[0].memory_intensity, 2e6 / (3 * 1e4 * 4));
  EXPECT_EQ(kernels[0].cache_intensity, 0);
  EXPECT_EQ(kernels[0].problem, "NN 100x100x100");
  EXPECT_DOUBLE_EQ(kernels[1].cache_intensity, 0.125);
  EXPECT_DOUBLE_EQ(kernels[1].memory_intensity, 2e6 / (3 * 1e4 * 8));
  EXPECT_DOUBLE_EQ(kernels[2].memory_intensity, 2e6 / (3 * 100 * 4 * 1000));
  EXPECT_DOUBLE_EQ(kernels[3].memory_intensity, 2e6 / ((300 + 10 + 8 + 20) * 4));
  EXPECT_DOUBLE_EQ(kernels[4].memory_intensity, 2e6 / (1e4 * (2 + 2 + 4)));
  EXPECT_DOUBLE_EQ(kernels[5].memory_intensity, 0.125);
  EXPECT_THROW(kernels_of(nlohmann::ordered_json::array(), "file", left_out), usage_error);
  const auto out = roofline_document(kernels, machine_of_round_numbers());
  EXPECT_EQ(out["ridge_points"]["f32"], 10.0);
  EXPECT_EQ(out["kernels"][5]["bound"], "memory");
  EXPECT_EQ(out["kernels"][5]["attainable_gflops"], 12.5);
}

TEST(Roofline, TheTableNamesTheBound) {
  const auto text = places_text({kernel(400, 600, 0.25), kernel(30, 0.5)}, machine_of_round_numbers());
  EXPECT_NE(text.find("L1 "), std::string::npos) << text;
  EXPECT_NE(text.find("80%"), std::string::npos) << text;
  EXPECT_NE(text.find("60%"), std::string::npos) << text;
  EXPECT_NE(ceilings_text(machine_of_round_numbers()).find("ridge point 10 FLOP/B"), std::string::npos);
}

// The measured ceilings are of this machine, which others may be using: only their order is certain.
TEST(Roofline, CachesAreFasterThanMemory) {
  const double l1 = measure_host_read(16 * 1024, 1);
  EXPECT_GT(l1, 1e9);
  EXPECT_GT(2 * l1, measure_host_copy(1));
}

TEST(Roofline, ComplexNumbersHaveAMeasuredPeak) {
  EXPECT_GT(measure_host_peak(data_type::c64, 1), 1e9);
  EXPECT_EQ(measure_host_peak(data_type::bf16, 1), 0);
}

TEST(Roofline, WhatOnlyMovesHasMemoryForItsBound) {
  const auto document =
      nlohmann::ordered_json::parse(R"({"schema": "keramos-perf/1", "context": {}, "results": [
    {"kernel": "transpose", "type": "f32", "shape": "8x8", "provider": "keramos", "median_s": 1e-3,
     "gbytes_per_s": 60.0}]})");
  int left_out = 0;
  const auto kernels = kernels_of(document, "file", left_out);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].problem, "transpose 8x8");
  const auto at = place(kernels[0], machine_of_round_numbers());
  EXPECT_EQ(at.bound.name, "memory");
  EXPECT_EQ(at.bound.attainable, 100);
  EXPECT_EQ(at.fraction, 0.6);
  EXPECT_NE(places_text(kernels, machine_of_round_numbers()).find("60%"), std::string::npos);
}

}  // namespace
}  // namespace keramos::perf
