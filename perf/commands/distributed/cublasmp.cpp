#include "cublasmp.hpp"

#include <cublasmp.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/base/error.hpp>

#include "measure/core/host.hpp"
#include "measure/providers/cublas.hpp"
#include "on_all_ranks.hpp"

namespace keramos::perf {
namespace {

class library {
 public:
  // Throws unavailable_error.
  static const library& loaded() {
    static const library only;
    return only;
  }

  decltype(&cublasMpCreate) create;
  decltype(&cublasMpDestroy) destroy;
  decltype(&cublasMpGridCreate) create_grid;
  decltype(&cublasMpGridDestroy) destroy_grid;
  decltype(&cublasMpMatrixDescriptorCreate) create_matrix;
  decltype(&cublasMpMatrixDescriptorDestroy) destroy_matrix;
  decltype(&cublasMpGemm_bufferSize) workspace_of_gemm;
  decltype(&cublasMpGemm) gemm;
  decltype(&cublasMpMalloc) allocate;
  decltype(&cublasMpFree) free;
  decltype(&cublasMpGetVersion) version;
  decltype(&cublasMpGetStatusString) text_of_status;

 private:
  library() {
    const std::string configured = KERAMOS_PERF_CUBLASMP_LIBRARY;
    const std::string file = std::filesystem::exists(configured) ? configured : "libcublasmp.so.0";
    // All symbols at once: one that an older NCCL lacks would end the program when it is called.
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr)
      throw unavailable_error(
          std::string(dlerror()) +
          "; LD_LIBRARY_PATH may name its folder, and that of an NCCL that is new enough");
    find(create, "cublasMpCreate"), find(destroy, "cublasMpDestroy");
    find(create_grid, "cublasMpGridCreate"), find(destroy_grid, "cublasMpGridDestroy");
    find(create_matrix, "cublasMpMatrixDescriptorCreate");
    find(destroy_matrix, "cublasMpMatrixDescriptorDestroy");
    find(workspace_of_gemm, "cublasMpGemm_bufferSize"), find(gemm, "cublasMpGemm");
    find(allocate, "cublasMpMalloc"), find(free, "cublasMpFree");
    find(version, "cublasMpGetVersion"), find(text_of_status, "cublasMpGetStatusString");
  }
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    if (function == nullptr) throw unavailable_error(std::string("this cuBLASMp has no ") + name);
  }

  void* handle_ = nullptr;
};

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // else Kokkos' next launch finds it
  throw unavailable_error(std::string(what) + ": " + cudaGetErrorString(status));
}
void require(ncclResult_t status, const char* what) {
  if (status != ncclSuccess)
    throw unavailable_error(std::string(what) + ": " + ncclGetErrorString(status) + " (" +
                            ncclGetLastError(nullptr) + ")");
}
void require(cublasMpStatus_t status, const char* what) {
  if (status == CUBLASMP_STATUS_SUCCESS) return;
  (void)cudaGetLastError();
  throw unavailable_error(std::string(what) + ": " + library::loaded().text_of_status(status));
}

cublasOperation_t op_of(transpose op, data_type type) {
  if (op == transpose::N) return CUBLAS_OP_N;
  return op == transpose::C && is_complex(type) ? CUBLAS_OP_C : CUBLAS_OP_T;
}

// NCCL connects ranks that have a GPU each. Collective; throws on all ranks or on none.
void require_own_gpus(const cudaUUID_t& own, int ranks, MPI_Comm comm) {
  std::vector<cudaUUID_t> all(std::size_t(ranks), own);
  MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, comm);
  std::vector<std::string> ids;
  for (const auto& id : all) ids.emplace_back(id.bytes, sizeof(id.bytes));
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
    throw unavailable_error("two ranks have the same GPU, and NCCL needs one for each");
}

class product final : public cublasmp_product {
 public:
  product(const distributed_case& c, dist::communicator& comm, const cublasmp_matrix& a,
          const cublasmp_matrix& b, const cublasmp_matrix& c_matrix)
      : g_(c.problem),
        types_(cublas_types_of(g_.type)),
        alpha_(g_.alpha, types_.scalar),
        beta_(g_.beta, types_.scalar),
        data_{a.part, b.part, c_matrix.part},
        stream_(comm.queue().execution_space().cuda_stream()) {
    const MPI_Comm mpi = comm.mpi();
    cudaDeviceProp gpu{};
    ncclUniqueId id{};
    on_all_ranks(mpi, [&] {
      mp_ = &library::loaded();
      require(cudaGetDeviceProperties(&gpu, comm.queue().execution_space().cuda_device()),
              "cudaGetDeviceProperties");
      if (comm.rank() == 0) require(ncclGetUniqueId(&id), "ncclGetUniqueId");
    });
    require_own_gpus(gpu.uuid, comm.size(), mpi);
    MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, mpi);
    on_all_ranks(mpi, [&] {
      ncclComm_t made = nullptr;
      require(ncclCommInitRank(&made, comm.size(), id, comm.rank()), "ncclCommInitRank");
      nccl_ = {made, ncclCommDestroy};
    });
    on_all_ranks(mpi, [&] {
      cublasMpHandle_t handle = nullptr;
      require(mp_->create(&handle, stream_), "cublasMpCreate");
      handle_ = {handle, mp_->destroy};
      cublasMpGrid_t grid = nullptr;
      require(mp_->create_grid(c.grid_rows, c.grid_cols, CUBLASMP_GRID_LAYOUT_ROW_MAJOR, nccl_.get(), &grid),
              "cublasMpGridCreate");
      grid_ = {grid, mp_->destroy_grid};
    });
    on_all_ranks(mpi, [&] {
      matrices_[0] = described(a, types_.ab, c.block);
      matrices_[1] = described(b, types_.ab, c.block);
      matrices_[2] = described(c_matrix, types_.c, c.block);
      std::size_t device_bytes = 0, host_bytes = 0;
      require(call(*mp_->workspace_of_gemm, &device_bytes, &host_bytes), "cublasMpGemm_bufferSize");
      device_bytes_ = device_bytes;
      host_workspace_.resize(host_bytes);
    });
    make_workspace(mpi, comm.rank());
  }

  void operator()() override {
    try {
      require(
          call(*mp_->gemm, workspace_.get(), device_bytes_, host_workspace_.data(), host_workspace_.size()),
          "cublasMpGemm");
      require(cudaStreamSynchronize(stream_), "cublasMpGemm");
    } catch (const unavailable_error& e) {
      throw error(e.what());
    }
  }

 private:
  template <class Pointer, class Status>
  using owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Status (*)(Pointer)>;
  using owned_matrix = owned<cublasMpMatrixDescriptor_t, cublasMpStatus_t>;

  // Of one size on all ranks. Only with memory of its own does cuBLASMp send while it multiplies.
  void make_workspace(MPI_Comm mpi, int rank) {
    std::uint64_t bytes = std::max<std::uint64_t>(device_bytes_, 1);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MAX, mpi);
    void* memory = nullptr;
    try {
      on_all_ranks(mpi, [&] {
        require(mp_->allocate(grid_.get(), &memory, bytes), "cublasMpMalloc");
        workspace_ = {memory, [this](void* own) { mp_->free(grid_.get(), own); }};
      });
    } catch (const unavailable_error& e) {
      workspace_.reset();
      if (rank == 0)
        std::fprintf(stderr, "keramos-perf: cuBLASMp will send first and multiply then: %s\n", e.what());
      on_all_ranks(mpi, [&] {
        require(cudaMalloc(&memory, bytes), "cudaMalloc of a workspace");
        workspace_ = {memory, cudaFree};
      });
    }
  }
  owned_matrix described(const cublasmp_matrix& m, cudaDataType_t type, int block) const {
    cublasMpMatrixDescriptor_t made = nullptr;
    require(mp_->create_matrix(m.rows, m.cols, block, block, 0, 0, m.leading, type, grid_.get(), &made),
            "cublasMpMatrixDescriptorCreate");
    return {made, mp_->destroy_matrix};
  }
  // What cublasMpGemm and the question for its workspace have in common. Matrices are whole: they begin at (1, 1).
  template <class F, class... Workspace>
  cublasMpStatus_t call(F& f, Workspace... workspace) const {
    return f(handle_.get(), op_of(g_.op_a, g_.type), op_of(g_.op_b, g_.type), g_.m, g_.n, g_.k,
             alpha_.address(), data_[0], 1, 1, matrices_[0].get(), data_[1], 1, 1, matrices_[1].get(),
             beta_.address(), data_[2], 1, 1, matrices_[2].get(), types_.compute, workspace...);
  }

  gemm_case g_;
  cublas_types types_;
  cublas_scalar alpha_, beta_;
  void* data_[3];
  cudaStream_t stream_;
  const library* mp_ = nullptr;
  // Each needs those before it, and goes before them.
  owned<ncclComm_t, ncclResult_t> nccl_{nullptr, nullptr};
  owned<cublasMpHandle_t, cublasMpStatus_t> handle_{nullptr, nullptr};
  owned<cublasMpGrid_t, cublasMpStatus_t> grid_{nullptr, nullptr};
  owned_matrix matrices_[3] = {{nullptr, nullptr}, {nullptr, nullptr}, {nullptr, nullptr}};
  std::unique_ptr<void, std::function<void(void*)>> workspace_;
  std::size_t device_bytes_ = 0;
  std::vector<char> host_workspace_;
};

}  // namespace

std::string cublasmp_version() {
  const auto& mp = library::loaded();
  int version = 0;
  require(mp.version(&version), "cublasMpGetVersion");
  return version_text(std::size_t(version)) + ", " + file_of_address(reinterpret_cast<const void*>(mp.gemm));
}

std::unique_ptr<cublasmp_product> make_cublasmp(const distributed_case& c, dist::communicator& comm,
                                                const cublasmp_matrix& a, const cublasmp_matrix& b,
                                                const cublasmp_matrix& c_matrix) {
  return std::make_unique<product>(c, comm, a, b, c_matrix);
}

}  // namespace keramos::perf
