// What makes, runs and judges a random case of some type, and the lists of them: a source for each group of types, since each
// takes long to compile.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "arena.hpp"

namespace keramos::fuzz {

/// What is wrong with a random case, if anything is; `seed` made the numbers of `rng`.
using check = std::optional<std::string>(std::mt19937_64& rng, unsigned long long seed,
                                         const arena (&memory)[3]);

extern const std::vector<check*> checks_of_floats, checks_of_complex, checks_of_halves, checks_of_bytes,
    checks_of_eights, checks_of_halves_and_floats, checks_of_real_and_complex;

inline std::string at_work;                    ///< what a fault interrupts
inline std::map<std::string, long long> done;  ///< how many of each kind

}  // namespace keramos::fuzz
