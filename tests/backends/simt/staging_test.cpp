// The copy atom of GPUs: from global to local memory, in runs of as many bytes as are copied at once, some of them short.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include <keramos/enabled_backends.hpp>

namespace keramos::test {
namespace {

constexpr int threads = 64, stages = 3;

/// Each thread copies a run of each stage, of which not all elements may be there, and writes what another one has copied.
template <class Exec, class T, int Count>
struct copy_through_local {
  using copier = backend::staging<Exec>;
  static constexpr int of_stage = threads * Count;
  const T* from;
  T* to;

  KERAMOS_FUNCTION static int valid(int thread) { return Count - thread % (Count + 1); }

  KERAMOS_FUNCTION void operator()(const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    T* const local =
        static_cast<T*>(team.team_scratch(0).get_shmem_aligned(stages * of_stage * sizeof(T), 128));
    const int thread = int(team.team_rank()), other = (thread + 7) % threads;
    const T* at = from + copier::recompute(thread) * Count;
    for (int s = 0; s < stages; ++s) {
      if (s == 1)
        copier::template copy<Count>(local + s * of_stage + thread * Count, at);
      else
        copier::template copy<Count>(local + s * of_stage + thread * Count, at, valid(thread));
      copier::commit();
      at = copier::advance(at, of_stage * index_t(sizeof(T)));
    }
    copier::template wait<stages - 1>();  // for the first
    team.team_barrier();
    write(local, 0, other);
    copier::template wait<0>();
    team.team_barrier();
    for (int s = 1; s < stages; ++s) write(local, s, other);
  }
  KERAMOS_FUNCTION void write(const T* local, int stage, int thread) const {
    for (int i = stage * of_stage + thread * Count, end = i + Count; i < end; ++i) to[i] = local[i];
  }
};

template <class Exec, class T, int Count>
void test_copies() {
  using copy = copy_through_local<Exec, T, Count>;
  const int size = stages * copy::of_stage;
  const Kokkos::View<T*, Exec> from("from", size), to("to", size);
  auto expected = Kokkos::create_mirror_view(Kokkos::HostSpace(), from);
  auto* const bytes = reinterpret_cast<unsigned char*>(expected.data());
  for (std::size_t i = 0; i < size * sizeof(T); ++i) bytes[i] = (unsigned char)(1 + i * 7 % 113);
  Kokkos::deep_copy(from, expected);
  Kokkos::fence();
  Kokkos::parallel_for(
      "test_copies",
      Kokkos::TeamPolicy<Exec>(1, threads).set_scratch_size(0, Kokkos::PerTeam(size * sizeof(T) + 256)),
      copy{from.data(), to.data()});
  Kokkos::fence();
  for (const int s : {0, 2})
    for (int t = 0; t < threads; ++t)
      for (int i = copy::valid(t); i < Count; ++i)
        std::memset(expected.data() + s * copy::of_stage + t * Count + i, 0, sizeof(T));
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  for (int i = 0; i < size; ++i)
    ASSERT_EQ(std::memcmp(&got(i), &expected(i), sizeof(T)), 0)
        << sizeof(T) << " bytes x " << Count << ": element " << i % Count << " of thread "
        << i / Count % threads << ", stage " << i / copy::of_stage;
}

template <class Exec>
void test_copies_of_types() {
  if constexpr (!backend::traits<Exec>::is_host) {
    test_copies<Exec, integer8, 1>(), test_copies<Exec, integer8, 4>(), test_copies<Exec, integer8, 8>();
    test_copies<Exec, integer8, 16>();
    test_copies<Exec, float16, 1>(), test_copies<Exec, float16, 2>(), test_copies<Exec, float16, 4>();
    test_copies<Exec, float16, 8>();
    test_copies<Exec, float, 1>(), test_copies<Exec, float, 2>(), test_copies<Exec, float, 4>();
    test_copies<Exec, double, 1>(), test_copies<Exec, double, 2>();
    test_copies<Exec, complex<double>, 1>();
  }
}

TEST(SimtStaging, CopiesWhatIsThereAndZerosBehind) {
#define KERAMOS_TEST(Space) test_copies_of_types<Space>();
  KERAMOS_FOR_EACH_SPACE(KERAMOS_TEST)
#undef KERAMOS_TEST
}

}  // namespace
}  // namespace keramos::test
