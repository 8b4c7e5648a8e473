// Products on matrix units as SPIR-V, for compilers of GPUs that are not here:
//   SYCL_DUMP_IMAGES=1 sycl_spirv <type> <bits of accesses>     files in the working folder
// Status 77 if there is no device, for which the run-time compiler asks.
#include <cstdio>
#include <exception>
#include <string>

#include <sycl/sycl.hpp>

#include "program.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("sycl_spirv <type> <bits of accesses>"), 1;
  if (::sycl::device::get_devices().empty()) return std::puts("there is no device of SYCL here"), 77;
  try {
    keramos::test::device::compile_only("products.cpp",
                                        {std::string("KERAMOS_TYPE=") + argv[1], "KERAMOS_SYCL_UNITS=1",
                                         std::string("KERAMOS_ACCESSES=") + argv[2]});
  } catch (const std::exception& e) {
    return std::puts(e.what()), 1;
  }
}
