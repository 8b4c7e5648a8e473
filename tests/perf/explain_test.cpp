// The arithmetic of explain, against figures worked out by hand and the literature's.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/explain/occupancy.hpp"
#include "commands/explain/text.hpp"
#include "commands/explain/tile_model.hpp"
#include "measure/core/device_spec.hpp"

namespace keramos::perf {
namespace {

tile_description square(std::int64_t width, data_type type = data_type::f32) {
  return {type, width, width, width, 1, 1, 1};
}

// Kirk and Hwu, Programming Massively Parallel Processors: a tile of 16 does 512 loads and 8,192
// operations a phase, one of 32 does 2,048 and 65,536.
TEST(TileModel, TheTextbooksTiles) {
  const auto f16 = figures_of(square(16)), f32 = figures_of(square(32));
  EXPECT_EQ(f16.naive_intensity, 0.25);
  EXPECT_EQ(f16.loads, 512);
  EXPECT_EQ(f16.operations, 8192);
  EXPECT_EQ(f16.intensity, 4);
  EXPECT_EQ(f16.reduction, 16);
  EXPECT_EQ(f16.scratch_bytes, 2048);
  EXPECT_EQ(f16.threads, 256);
  EXPECT_EQ(f32.loads, 2048);
  EXPECT_EQ(f32.operations, 65536);
  EXPECT_EQ(f32.intensity, 8);
  EXPECT_EQ(f32.reduction, 32);
  EXPECT_EQ(f32.threads, 1024);
}

TEST(TileModel, TypesThreadTilesAndStages) {
  EXPECT_EQ(figures_of(square(16, data_type::f64)).naive_intensity, 0.125);
  EXPECT_EQ(figures_of(square(16, data_type::f64)).scratch_bytes, 4096);
  EXPECT_EQ(figures_of(square(8, data_type::i32)).loads, 128);
  const auto f = figures_of({data_type::f32, 128, 64, 8, 8, 4, 3});
  EXPECT_EQ(f.threads, 16 * 16);
  EXPECT_EQ(f.loads, (128 + 64) * 8);
  EXPECT_EQ(f.operations, 2 * 128 * 64 * 8);
  EXPECT_EQ(f.scratch_bytes, (128 + 64) * 8 * 4 * 3);
  EXPECT_DOUBLE_EQ(f.reduction, 2.0 * 128 * 64 / (128 + 64));
}

unit_limits textbook_unit() {
  unit_limits unit;
  unit.scratch_bytes = 48 * 1024;
  unit.threads = 2048;
  unit.teams = 16;
  return unit;
}

TEST(Occupancy, TheTextbooksTilesAreLimitedByThreads) {
  const auto o = occupancy_of({256, 0, 2048}, textbook_unit());
  EXPECT_EQ(o.teams, 8);
  EXPECT_EQ(o.limited_by, "threads");
  EXPECT_EQ(o.occupancy, 1.0);
  EXPECT_EQ(o.impossible, "");
  ASSERT_EQ(o.limits.size(), 3u);  // registers are not known, so they do not limit
  EXPECT_EQ(o.limits[2].resource, "scratch");
  EXPECT_EQ(o.limits[2].teams, 24);
  EXPECT_EQ(occupancy_of({1024, 0, 8192}, textbook_unit()).teams, 2);
}

TEST(Occupancy, EachResourceCanLimit) {
  EXPECT_EQ(occupancy_of({64, 0, 512}, textbook_unit()).limited_by, "teams");
  const auto scratch = occupancy_of({256, 0, 16 * 1024}, textbook_unit());
  EXPECT_EQ(scratch.limited_by, "scratch");
  EXPECT_EQ(scratch.teams, 3);
  EXPECT_EQ(scratch.occupancy, 768.0 / 2048);
  auto unit = textbook_unit();
  unit.registers = 65536;
  const auto registers = occupancy_of({256, 128, 2048}, unit);
  EXPECT_EQ(registers.limited_by, "registers");
  EXPECT_EQ(registers.teams, 2);
  EXPECT_EQ(occupancy_of({256, 32, 6 * 1024}, unit).limited_by, "threads and registers and scratch");
}

// The CUDA occupancy calculator's rules: a warp's registers in multiples of 256 in one of four banks.
TEST(Occupancy, AllocationIsRoundedUp) {
  unit_limits unit;
  unit.threads = 2048;
  unit.registers = 65536;
  unit.warp = 32;
  unit.register_granularity = 256;
  unit.register_banks = 4;
  // 72 registers: 2304 of a warp, 7 warps in each bank of 16384, 28 in all: 3 teams of 8 warps.
  EXPECT_EQ(occupancy_of({256, 72, 0}, unit).teams, 3);
  // 65 registers are given 2304 too.
  EXPECT_EQ(occupancy_of({256, 65, 0}, unit).teams, 3);
  EXPECT_EQ(occupancy_of({256, 64, 0}, unit).teams, 4);
  // 33 threads take two warps.
  EXPECT_EQ(occupancy_of({33, 0, 0}, unit).teams, 32);
  unit.scratch_bytes = 233472;
  unit.scratch_granularity = 128;
  unit.scratch_reserved_of_a_team = 1024;
  EXPECT_EQ(occupancy_of({128, 0, 38400}, unit).teams, 5);
  EXPECT_EQ(occupancy_of({128, 0, 38400}, unit).limited_by, "scratch");
}

TEST(Occupancy, WhatCannotRunSaysWhy) {
  auto unit = textbook_unit();
  unit.threads_of_a_team = 1024;
  unit.registers_of_a_thread = 255;
  EXPECT_NE(occupancy_of({1056, 0, 0}, unit).impossible.find("1024"), std::string::npos);
  EXPECT_NE(occupancy_of({32, 256, 0}, unit).impossible.find("255"), std::string::npos);
  const auto too_much = occupancy_of({256, 0, 49153}, unit);
  EXPECT_EQ(too_much.teams, 0);
  EXPECT_NE(too_much.impossible.find("scratch"), std::string::npos);
  EXPECT_EQ(occupancy_of({256, 0, 0}, {}).limited_by, "");
}

TEST(DeviceSpec, EveryShippedOneIsSoundAndCited) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(KERAMOS_PERF_SPECS)) {
    if (file.path().extension() != ".json") continue;
    const auto spec = read_device_spec(file.path().stem(), KERAMOS_PERF_SPECS);
    EXPECT_GE(spec.sources.size(), 2u) << file.path();
    for (const auto& source : spec.sources) EXPECT_GT(source.size(), 20u) << file.path();
    EXPECT_GT(spec.units, 0) << file.path();
    EXPECT_GT(rate_of(spec.peak_gflops, "f32"), rate_of(spec.bandwidth_gbs, "memory")) << file.path();
    EXPECT_GE(rate_of(spec.peak_gflops, "f32"), rate_of(spec.peak_gflops, "f64")) << file.path();
    for (const auto& cache : spec.bandwidth_gbs) {
      EXPECT_GE(cache.value, rate_of(spec.bandwidth_gbs, "memory")) << file.path();
    }
    if (spec.kind == "gpu") {
      EXPECT_TRUE(spec.unit.threads && spec.unit.scratch_bytes) << file.path();
    }
    // What is written can be read again.
    EXPECT_EQ(to_json(parse_device_spec(to_json(spec), "again")), to_json(spec)) << file.path();
    ++count;
  }
  EXPECT_GE(count, 8);
  const auto a100 = read_device_spec("a100-sxm4-40gb", KERAMOS_PERF_SPECS);
  EXPECT_EQ(rate_of(a100.bandwidth_gbs, "memory"), 1555);
  EXPECT_EQ(rate_of(a100.peak_gflops, "f32"), 19500);
  EXPECT_EQ(rate_of(a100.matrix_peak_gflops, "tf32"), 156000);
}

TEST(DeviceSpec, WhatIsWrongIsNamed) {
  const auto message = [](const char* text) -> std::string {
    try {
      parse_device_spec(nlohmann::ordered_json::parse(text), "my.json");
    } catch (const usage_error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message(R"({"name": "x"})").find("write \"schema\""), std::string::npos);
  const std::string head = R"({"schema": "keramos-device-spec/1", "name": "x", "kind": "gpu")";
  EXPECT_NE(message((head + "}").c_str()).find("bandwidth_gbs.memory"), std::string::npos);
  const auto with_memory = head + R"(, "bandwidth_gbs": {"memory": 100})";
  EXPECT_EQ(message((with_memory + "}").c_str()), "accepted");
  EXPECT_NE(message((with_memory + R"(, "unit": {"thread": 1}})").c_str()).find("unit.thread"),
            std::string::npos);
  EXPECT_NE(message((with_memory + R"(, "unit": {"warp": 0}})").c_str()).find("at least 1"),
            std::string::npos);
  EXPECT_NE(message((with_memory + R"(, "peak_gflops": {"f32": -1}})").c_str()).find("peak_gflops.f32"),
            std::string::npos);
  EXPECT_NE(message((with_memory + R"(, "units": "many"})").c_str()).find("my.json"), std::string::npos);
}

TEST(Explain, TheRoofOnPaper) {
  const auto a100 = read_device_spec("a100-sxm4-40gb", KERAMOS_PERF_SPECS);
  const auto text = roofline_text(square(16), figures_of(square(16)), a100);
  EXPECT_NE(text.find("389"), std::string::npos) << text;   // 0.25 FLOP/B x 1555 GB/s
  EXPECT_NE(text.find("6220"), std::string::npos) << text;  // 4 x 1555
  EXPECT_NE(text.find("12.5"), std::string::npos) << text;  // the ridge
}

library_plan some_plan() {
  library_plan plan;
  plan.type = "f32";
  planned_part part;
  part.text = "512 x 512 of C: tiled, block tile 64x64x16, 2 stages";
  part.path = "tiled";
  part.m = part.n = 512;
  part.block = {64, 64, 16};
  part.stages = 2, part.teams = 64, part.threads = 128, part.scratch_bytes = 17408;
  part.unit = "matrix units";
  part.teams_of_registers = 4;
  part.model = modelled_time{1000, {{"copies", 0.25}, {"products", 0.125}}};
  plan.parts.push_back(part);
  return plan;
}

TEST(Explain, ThePlanTellsTeamsUnitAndLimit) {
  gemm_case g;
  g.type = data_type::f32_emulated, g.m = g.n = g.k = 512;
  const auto text = library_text(g, some_plan(), 0);
  EXPECT_NE(text.find("f32_emulated NN, m x n x k = 512 x 512 x 512, computed as f32"), std::string::npos)
      << text;
  EXPECT_NE(text.find("64   of 128 threads"), std::string::npos) << text;
  EXPECT_NE(text.find("matrix units"), std::string::npos) << text;
  EXPECT_NE(text.find("17,408"), std::string::npos) << text;
  EXPECT_NE(text.find("?   compiled so that 4 teams fit a multiprocessor"), std::string::npos) << text;
  EXPECT_NE(text.find("--registers"), std::string::npos) << text;
  EXPECT_NE(
      text.find("copies   by the model that chose it: without them 25 % less time, without products 12 %"),
      std::string::npos)
      << text;
  EXPECT_EQ(library_text(g, some_plan(), 96).find("--registers"), std::string::npos);
  const auto json = to_json(g, some_plan())["plan"][0];
  EXPECT_EQ(json["teams"], 64);
  EXPECT_EQ(json["unit"], "matrix units");
  EXPECT_EQ(json["model"]["limited_by"], "copies");
  EXPECT_EQ(json["model"]["saved_without"]["products"], 0.125);
}

// The library's tiles have teams that do not follow from a tile of a thread.
TEST(Explain, ATileOfTheLibrary) {
  tile_description t{data_type::f32, 64, 64, 16, 1, 1, 2, 128};
  const auto figures = figures_of(t);
  EXPECT_EQ(figures.threads, 128);
  EXPECT_NE(tile_text(t, figures).find("block tile 64x64x16 of f32, 128 threads a team\n"),
            std::string::npos);
  EXPECT_FALSE(to_json(t, figures).contains("thread_tile"));
}

}  // namespace
}  // namespace keramos::perf
