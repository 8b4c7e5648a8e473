#include <algorithm>
#include <array>
#include <utility>

#include <keramos/dist/communicator.hpp>

namespace keramos::detail {

void check_mpi(int status, const char* function, MPI_Comm comm) {
  if (status == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0, rank = -1;
  MPI_Error_string(status, reason, &length);
  MPI_Comm_rank(comm, &rank);
  throw dist::communication_error(
      "keramos::dist: " + std::string(function) + " failed on rank " + std::to_string(rank) + ": " + reason,
      rank);
}

}  // namespace keramos::detail

namespace keramos::dist {
namespace {

MPI_Comm duplicate(MPI_Comm of) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (!initialised || finalised)
    throw not_initialized("keramos::dist::communicator: MPI is not initialised; call MPI_Init first");
  if (of == MPI_COMM_NULL)
    throw invalid_argument("keramos::dist::communicator: the MPI_Comm is MPI_COMM_NULL");
  MPI_Comm copy = MPI_COMM_NULL;
  detail::check_mpi(MPI_Comm_dup(of, &copy), "MPI_Comm_dup", of);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const char c : text) hash = (hash ^ std::uint64_t(static_cast<unsigned char>(c))) * 1099511628211ull;
  return hash;
}

/// The first lines that differ.
std::array<std::string, 2> difference(const std::string& x, const std::string& y) {
  std::size_t at = 0, line = 0;
  for (; at < x.size() && at < y.size() && x[at] == y[at]; ++at)
    if (x[at] == '\n') line = at + 1;
  const auto from = [&](const std::string& text) {
    return line < text.size() ? text.substr(line, text.find('\n', line) - line) : std::string("nothing");
  };
  return {from(x), from(y)};
}

}  // namespace

communicator::communicator(MPI_Comm of, const communicator_options& options)
    : comm_(duplicate(of)), timeout_seconds_(options.mpi_timeout_seconds) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  transport_ = mpi_transport(comm_, options.longest_message, timeout_seconds_);
}

communicator::communicator(communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      timeout_seconds_(other.timeout_seconds_),
      transport_(std::move(other.transport_)),
      queue_(std::move(other.queue_)) {}

communicator::~communicator() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (!finalised && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void communicator::check(int status, const char* function) const {
  detail::check_mpi(status, function, comm_);
}

std::string communicator::text_of(int rank, std::string text) {
  int length = int(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT, rank, comm_), "MPI_Bcast");
  text.resize(std::size_t(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, rank, comm_), "MPI_Bcast");
  return text;
}

void communicator::largest(const std::uint64_t* mine, std::uint64_t* most, int count) {
  const auto n = std::size_t(count);
  auto memory = std::make_unique<std::vector<std::uint64_t>>(mine, mine + n);
  memory->resize(2 * n);
  std::uint64_t* const result = memory->data() + n;
  std::vector<MPI_Request> all(1, MPI_REQUEST_NULL);
  check(MPI_Iallreduce(memory->data(), result, count, MPI_UINT64_T, MPI_MAX, comm_, all.data()),
        "MPI_Iallreduce");
  try {
    detail::wait_mpi(all, comm_, timeout_seconds_);
  } catch (...) {
    memory.release();  // a rank that comes late may still have it written
    throw;
  }
  std::copy_n(result, n, most);
}

void communicator::agree(const std::string& call, failure why, const std::string& message) {
  // All at once: whether hashes are the same (the largest, and the complement of the smallest), and the lowest rank that
  // fails, with why.
  const std::uint64_t hash = hash_of(call);
  const std::uint64_t failing =
      why == failure::none ? 0 : std::uint64_t(size_ - rank_) * 4 + std::uint64_t(why);
  std::uint64_t mine[3] = {hash, ~hash, failing}, most[3];
  largest(mine, most, 3);
  if (most[2] != 0) {
    const int rank = size_ - int(most[2] / 4);
    const std::string text = text_of(rank, message) + " (found on rank " + std::to_string(rank) + ")";
    switch (failure(most[2] % 4)) {
      case failure::argument:
        throw invalid_argument(text);
      case failure::memory:
        throw memory_error(text);
      default:
        throw error(text);
    }
  }
  if (most[0] == ~most[1]) return;

  const std::string first = text_of(0, call);
  int differs = call == first ? size_ : rank_, rank = 0;
  check(MPI_Allreduce(&differs, &rank, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  const auto [of_first, of_other] = difference(first, text_of(rank, call));
  throw invalid_argument("keramos::dist: ranks call different things: rank 0 has " + of_first + " but rank " +
                         std::to_string(rank) + " has " + of_other + "; all ranks must pass the same");
}

}  // namespace keramos::dist
