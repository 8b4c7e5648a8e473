// Batches on a host: small problems one a thread at a time, through the kernels that multiply in place.
#pragma once

#include <type_traits>

#include <keramos/backends/host/team.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/kernel/host_unpacked.hpp>

namespace keramos::detail::host {

template <class Types, class Batch, class Epilogue>
struct small_batch_kernel {
  unpacked_function<typename Types::accumulator>* multiply;
  Batch batch;
  Epilogue epilogue;

  void operator()(index_t b) const { multiply_unpacked<Types>(multiply, batch[b], epilogue); }
};

/// All problems of a batch, which are small.
template <class Types, class Exec, class Batch, class Epilogue>
void run_small_batch(const Exec& exec, const Batch& batch, const Epilogue& epilogue) {
  using schedule =
      std::conditional_t<Batch::mixed, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::Schedule<Kokkos::Static>>;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>, schedule>;
  backend::host::for_each_index<policy>(
      "keramos::gemm_batched", exec, batch.size(),
      small_batch_kernel<Types, Batch, Epilogue>{kernels<Types>().multiply_unpacked, batch, epilogue});
}

}  // namespace keramos::detail::host
