// What a backend provides: the names below, specialised for its Kokkos execution space.
//
// Lower half (traits.hpp, queue.hpp, collectives.hpp, staging.hpp), used by core:
//   traits<Exec>           name, is_host, team_member (what kernels get of their team), team_size(items),
//                          local_memory_limit(exec, team); on hosts may_launch(), whether Kokkos takes launches from
//                          the calling thread;
//                          on devices teams_per_unit(wanted, team, bytes), sector_bytes;
//                          sends_bytes, whether kernels become bytes before Kokkos copies them;
//                          fence_covers_team, whether a thread's fence behind a barrier is one for all its team's stores
//   native_event<Exec>     record(exec), completion(exec) (which may lack the time), hold(exec, event), wait(),
//                          is_complete(), seconds_between(start, stop)
//   stream<Exec>           what is queued on an instance besides kernels: copy, prefetch, call_on_host; its end:
//                          synchronize; where pointers lead to: kind_of; memory spaces of each memory_kind
//   describe_device(exec)  a keramos::device_info
//   device_list<Exec>      all(): those of the backend, whether Kokkos is initialised or not
//   staging<Exec>          copy<count>(local, global, valid), commit(), wait<pending>(): copies to local memory
//   collectives<Exec, items, team>  (collectives.hpp) reductions, scans and shuffles of a group's private values
// Upper half (copy.hpp, mma.hpp, tuning.hpp), used by gemm:
//   copy<Exec>             types that bring tiles of an operand on chip (verb `stage`)
//   mma<Exec>              accumulators over those tiles (verb `multiply`); has_matrix_unit<T> and, for the
//                          device at hand, matrix_unit_works(exec); where there is one, multiply_16x8
//   tuning<Exec>           the tile table, and the choice of a row for a problem: choose, choose_batched; whether to
//                          multiply the transposes: prefers_transposed; what another kernel does better: run_direct,
//                          run_small; on devices what is computed apart: choose_main, and arch(exec), size(exec)
//
// backends/host and backends/simt hold what backends of one family share.
#pragma once

#include <Kokkos_Core.hpp>

namespace keramos::backend {

template <class Exec>
struct traits;
template <class Exec>
class native_event;
template <class Exec>
struct stream;
template <class Exec>
struct device_list;
template <class Exec, int Size, int Team>
struct collectives;
template <class Exec>
struct staging;
template <class Exec>
struct copy;
template <class Exec>
struct mma;
template <class Exec>
struct tuning;

}  // namespace keramos::backend
