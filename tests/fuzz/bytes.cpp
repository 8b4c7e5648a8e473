// Integers of eight bits, with a sign or without.
#include "check_one.hpp"

namespace keramos::fuzz {

const std::vector<check*> checks_of_bytes = {
    check_one<std::int8_t, std::int8_t, std::int32_t>,  check_one<std::int8_t, std::uint8_t, std::int32_t>,
    check_one<std::uint8_t, std::int8_t, std::int32_t>, check_one<std::uint8_t, std::uint8_t, std::int32_t>,
    check_one<std::int8_t, std::int8_t, std::int8_t>,   check_one<std::uint8_t, std::int8_t, std::uint8_t>,
    check_one<std::int8_t, std::uint8_t, std::int8_t>};

}  // namespace keramos::fuzz
