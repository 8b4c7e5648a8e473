// Integers of eight bits, with a sign or without.
#include "check_one.hpp"

namespace keramos::fuzz {

namespace {
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i32 = std::int32_t;
}  // namespace

const std::vector<check*> checks_of_bytes = {
    check_one<i8, i8, i32>, check_one<i8, u8, i32>, check_one<u8, i8, i32>, check_one<u8, u8, i32>,
    check_one<i8, i8, i8>,  check_one<i8, u8, i8>,  check_one<u8, i8, i8>,  check_one<u8, u8, i8>,
    check_one<i8, i8, u8>,  check_one<i8, u8, u8>,  check_one<u8, i8, u8>,  check_one<u8, u8, u8>};

}  // namespace keramos::fuzz
