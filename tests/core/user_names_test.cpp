// Names that programs give their own things stay theirs at global scope after `using namespace keramos`.
#include <gtest/gtest.h>

#include <keramos/keramos.hpp>

using namespace keramos;

struct grid {};
struct tile {};
struct matrix {};
struct vector {};
struct scalar {};
struct point {};
struct cell {};
struct mesh {};
struct image {};
struct field {};
struct block {};
struct thread {};
struct warp {};
struct lane {};
struct team {};
struct stage {};
struct stream {};
struct view {};
struct array {};
struct list {};
struct batch {};
struct shape {};
struct layout {};
struct extent {};
struct stride {};
struct row {};
struct column {};
struct size {};
struct position {};
struct kernel {};
struct task {};
struct config {};
struct options {};
struct problem {};
struct result {};
struct timer {};
struct particle {};
struct direction {};
struct traits {};
struct functor {};
struct matrix_batch {};
struct matrix_list {};

template <class... T>
constexpr int count() {
  return sizeof...(T);
}
TEST(UserNames, AreTheUsersAfterUsingNamespace) {
  EXPECT_EQ((count<grid, tile, matrix, vector, scalar, point, cell, mesh, image, field, block, thread, warp,
                   lane, team, stage, stream, view, array, list, batch, shape, layout, extent, stride, row,
                   column, size, position, kernel, task, config, options, problem, result, timer, particle,
                   direction, traits, functor, matrix_batch, matrix_list>()),
            42);
}
