// What the cases of this folder share: a group of eight items with one local array of as many.
#pragma once

#include <keramos/keramos.hpp>

using line = keramos::local_array<int, 8>;
using wg = keramos::group<keramos::local_range<8>, keramos::local_memory<line>>;

template <class Kernel>
void launch(keramos::queue& q, const Kernel& kernel) {
  q.parallel_for_work_group<wg>("case", keramos::range{1}, kernel);
}
