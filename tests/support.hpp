// Notes which products a run of tests has done, for `keramos-perf support`: record_support where a test runs one, a listener
// that knows whether the test passed, and a file of JSON lines that the variable KERAMOS_SUPPORT_FILE names.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include <keramos/keramos.hpp>

namespace keramos::test {

/// How the documentation names an element.
template <class T>
std::string name_of_element() {
  if constexpr (std::is_same_v<T, std::int8_t>) return "i8";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
  if constexpr (std::is_same_v<T, float8_e4m3>) return "f8_e4m3";
  if constexpr (std::is_same_v<T, float8_e5m2>) return "f8_e5m2";
  switch (detail::scalar_type_of<T>::value) {
    case scalar_type::f16:
      return "f16";
    case scalar_type::bf16:
      return "bf16";
    case scalar_type::f32:
      return "f32";
    case scalar_type::f64:
      return "f64";
    case scalar_type::i32:
      return "i32";
    case scalar_type::c32:
      return "c32";
    case scalar_type::c64:
      return "c64";
    default:
      return "?";
  }
}

/// "f16", "i8 x u8 to i32", "f32 as tf32".
template <class A, class B, class C>
std::string name_of_product(gemm_compute compute) {
  std::string name = name_of_element<A>();
  if (name_of_element<B>() != name) name += " x " + name_of_element<B>();
  if (name_of_element<C>() != name) name += " to " + name_of_element<C>();
  if (compute == gemm_compute::tf32) name += " as tf32";
  if (compute == gemm_compute::f32_emulated || compute == gemm_compute::f64_emulated) name += ", emulated";
  return name;
}

/// Products of the test that runs, and of those that are over: true where all of these passed.
class support_listener : public testing::EmptyTestEventListener {
 public:
  static const char* file() {
    static const char* const name = std::getenv("KERAMOS_SUPPORT_FILE");
    return name;
  }
  static std::set<std::string>& in_this_test() {
    static std::set<std::string> products;
    return products;
  }

  void OnTestStart(const testing::TestInfo&) override { in_this_test().clear(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    for (const std::string& product : in_this_test()) {
      const auto at = passed_.emplace(product, true).first;
      at->second = at->second && test.result()->Passed();
    }
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    if (passed_.empty()) return;
    const device_info device = queue().device();
    std::ofstream out(file(), std::ios::app);
    for (const auto& [product, passed] : passed_)
      out << R"({"backend": ")" << device.backend << R"(", "device": ")" << device.name << "\", " << product
          << R"(, "passed": )" << (passed ? "true" : "false") << "}\n";
  }

 private:
  std::map<std::string, bool> passed_;
};

/// Notes a product of views, as the caller has them. Forms are those of keramos-perf support (perf/commands/support/table.hpp).
template <template <class> class View, class A, class B, class C>
void record_support(const char* form, const View<A>& a, const View<B>& b, const View<C>& c, op op_a, op op_b,
                    gemm_compute compute = gemm_compute::standard) {
  if (!support_listener::file()) return;
  const auto is_empty = [](const auto& x) { return x.rows == 0 || x.cols == 0; };
  if (is_empty(a) || is_empty(b) || is_empty(c)) return;
  const auto layout_of = [](const auto& x) {
    return x.col_stride == 1 ? 'r' : x.row_stride == 1 ? 'l' : 's';
  };
  std::string text = R"("type": ")";
  text += name_of_product<std::remove_const_t<A>, std::remove_const_t<B>, C>(compute);
  text += std::string(R"(", "form": ")") + form + R"(", "op": ")" + char(op_a) + char(op_b);
  text += std::string(R"(", "layouts": ")") + layout_of(a) + layout_of(b) + layout_of(c) + '"';
  support_listener::in_this_test().insert(text);
}

}  // namespace keramos::test
