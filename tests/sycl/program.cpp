#include "program.hpp"

#include <fstream>
#include <sstream>

namespace keramos::test::device {
namespace {

namespace experimental = ::sycl::ext::oneapi::experimental;

// KERAMOS_SYCL_OPTIONS: what the compiler takes, parted by bars.
std::vector<std::string> options_with(const std::vector<std::string>& definitions,
                                      std::vector<std::string> options) {
  std::stringstream all(KERAMOS_SYCL_OPTIONS);
  for (std::string option; std::getline(all, option, '|');) options.push_back(option);
  for (const std::string& definition : definitions) options.push_back("-D" + definition);
  return options;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

auto source_of(const ::sycl::queue& q, const std::string& file) {
  return experimental::create_kernel_bundle_from_source(q.get_context(), experimental::source_language::sycl,
                                                        text_of(KERAMOS_SYCL_SOURCES "/" + file));
}
auto with(const std::vector<std::string>& definitions, const std::vector<std::string>& others = {}) {
  return experimental::properties{experimental::build_options(options_with(definitions, others))};
}

}  // namespace

bool has_matrix_units(const ::sycl::queue& q, experimental::matrix::matrix_type type) {
  for (const auto& units : q.get_device().get_info<experimental::info::device::matrix_combinations>())
    if (units.atype == type) return true;
  return false;
}

void compile_only(const std::string& file, const std::vector<std::string>& definitions) {
  auto source = source_of(::sycl::queue(), file);
  experimental::compile(source, with(definitions));
}

program::program(const std::string& file, const std::vector<std::string>& definitions,
                 const std::vector<std::string>& options)
    : kernels_([&] {
        auto source = source_of(queue_, file);
        return experimental::build(source, with(definitions, options));
      }()) {}

}  // namespace keramos::test::device
