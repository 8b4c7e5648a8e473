#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/link_transport.hpp>
#include <keramos/dist/remembered.hpp>

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

constexpr bool is_host = backend::traits<communicator::execution_space>::is_host;

/// The duplicate that all ranks make, for whom others wait twice as long as in calls: there they would ask who is missing.
MPI_Comm duplicate_in_time(MPI_Comm of, double timeout_seconds) {
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  try {
    detail::check_mpi(MPI_Comm_idup(of, copy.get(), &request), "MPI_Comm_idup", of);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(2 * timeout_seconds);
    for (int is_done = 0; !is_done;) {
      detail::check_mpi(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test", of);
      if (is_done || std::chrono::steady_clock::now() < end) continue;
      int rank = -1;
      MPI_Comm_rank(of, &rank);
      throw communication_error("keramos::dist::communicator: rank " + std::to_string(rank) +
                                    " has waited longer than twice options.mpi_timeout_seconds, " +
                                    std::to_string(timeout_seconds) +
                                    ", for all ranks of the MPI_Comm to make a communicator",
                                rank);
    }
  } catch (...) {
    (void)copy.release();  // MPI may write it later
    throw;
  }
  return *copy;
}

MPI_Comm duplicate(MPI_Comm of, double timeout_seconds) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (!initialised || finalised)
    throw not_initialized("keramos::dist::communicator: MPI is not initialised; call MPI_Init first");
  if (of == MPI_COMM_NULL)
    throw invalid_argument("keramos::dist::communicator: the MPI_Comm is MPI_COMM_NULL");
  int is_inter = 0;
  MPI_Comm_test_inter(of, &is_inter);
  if (is_inter)
    throw invalid_argument(
        "keramos::dist::communicator: the MPI_Comm is an intercommunicator; merge its groups by "
        "MPI_Intercomm_merge");
  MPI_Comm copy = MPI_COMM_NULL;
  if (timeout_seconds > 0)
    copy = duplicate_in_time(of, timeout_seconds);
  else
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

void check_options(const communicator_options& options) {
  const auto refuse = [](const std::string& what) {
    throw invalid_argument("keramos::dist::communicator: options." + what);
  };
  if (options.transport < transport_kind::automatic || options.transport > transport_kind::staged)
    refuse("transport is " + std::to_string(int(options.transport)) + ", which is no transport_kind");
  for (const double seconds : {options.timeout_seconds, options.mpi_timeout_seconds})
    if (!(seconds >= 0))
      refuse("timeout_seconds or options.mpi_timeout_seconds is " + std::to_string(seconds) +
             ", but times are 0 or more");
}

}  // namespace

communicator::communicator(MPI_Comm of, const communicator_options& options)
    : comm_(duplicate(of, options.mpi_timeout_seconds)),
      timeout_seconds_(options.mpi_timeout_seconds > 0 ? options.mpi_timeout_seconds : 0) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  try {
    agree_on("function: keramos::dist::communicator\ntransport: " + std::to_string(int(options.transport)) +
                 "\nlongest message: " + std::to_string(options.longest_message) + "\n",
             [&] {
               check_options(options);
               pool_ = std::make_unique<detail::dist_pool>(detail::dist_pool::kind::device);
               remembered_ = std::make_unique<detail::dist_remembered>();
               queue_ = std::make_unique<queue_type>();
             });
    choose_transport(options);
  } catch (...) {
    transport_.reset();
    if (!has_given_up_) MPI_Comm_free(&comm_);
    throw;
  }
}

communicator::communicator(communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      timeout_seconds_(other.timeout_seconds_),
      all_know_(other.all_know_),
      has_given_up_(other.has_given_up_),
      pool_(std::move(other.pool_)),
      remembered_(std::move(other.remembered_)),
      link_(std::move(other.link_)),
      queue_(std::move(other.queue_)),
      transfers_(std::move(other.transfers_)),
      transport_(std::move(other.transport_)) {}

communicator::~communicator() {
  // Messages of what was given up may still arrive: a communicator that MPI makes later must not get them.
  bool has_failed = has_given_up_;
  int finalised = 0;
  MPI_Finalized(&finalised);
  try {
    if (!finalised && transport_) transport_->check();
  } catch (...) {
    has_failed = true;
  }
  transport_.reset();
  if (!finalised && !has_failed && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void communicator::free_memory() {
  remembered_->clear();
  pool_->free_all();
}

/// Begins a collective on `values` and waits for it. After a failure MPI cannot cancel it, and may use them later.
template <class T, class Begin>
void communicator::finish(std::vector<T>& values, const char* function, const Begin& begin) {
  if (transport_) transport_->check();  // after a failure ranks may have begun different collectives
  auto used = std::make_unique<std::vector<T>>(std::move(values));
  try {
    std::vector<MPI_Request> all(1, MPI_REQUEST_NULL);
    check(begin(used->data(), all.data()), function);
    detail::wait_mpi(all, comm_, timeout_seconds_, transport_.get());
  } catch (...) {
    (void)used.release();
    has_given_up_ = true;
    throw;
  }
  values = std::move(*used);
}

/// Calls f(): what it throws on one rank, all throw.
template <class F>
void communicator::agree_on(const std::string& call, const F& f) {
  failure why = failure::none;
  std::string message;
  try {
    f();
  } catch (const not_initialized& e) {
    why = failure::not_initialized, message = e.what();
  } catch (const invalid_argument& e) {
    why = failure::argument, message = e.what();
  } catch (const memory_error& e) {
    why = failure::memory, message = e.what();
  } catch (const std::exception& e) {
    why = failure::other, message = e.what();
  }
  agree(call, why, message);
}

void communicator::choose_transport(const communicator_options& options) {
  const auto kind = options.transport;
  std::string why_not = "hosts have none; pass transport_kind::automatic";
  if constexpr (!is_host) {
    why_not = "there is one rank";
    const bool wants_link =
        kind == transport_kind::devices || (kind == transport_kind::automatic && size_ > 1);
    if (wants_link && (why_not = connect_devices(options)).empty()) return;
  }
  if (kind == transport_kind::devices)
    throw invalid_argument(
        "keramos::dist::communicator: options.transport is `devices`, but there is no link: " + why_not);
  agree_on("the queue of transfers", [&] {
    transfers_ = is_host ? std::make_unique<queue_type>()
                         : std::make_unique<queue_type>(queue_options{.own_instance = true});
    transport_ = detail::mpi_transport(comm_, options.longest_message, timeout_seconds_, *transfers_, *pool_);
    if (kind == transport_kind::staged)
      transport_ = detail::staged_transport(std::move(transport_), *transfers_, "");
    else if (kind == transport_kind::automatic && !is_host)
      transport_ = detail::staged_transport(std::move(transport_), *transfers_,
                                            " (no link between devices: " + why_not + ")");
  });
}

/// Returns why not, on all ranks the same; "" if they are connected.
std::string communicator::connect_devices([[maybe_unused]] const communicator_options& options) {
#ifdef KERAMOS_HAS_DEVICE_LINK
  using detail::dist_link;
  // The lowest rank's reason, if there is one.
  const auto of_all = [&](const std::string& why) {
    try {
      agree("link", why.empty() ? failure::none : failure::other, why);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  std::string why;
  std::uint64_t device = 0;
  dist_link::id id{};
  try {
    device = hash_of(dist_link::device_of(queue_->execution_space()));
    if (rank_ == 0) id = dist_link::make_id();
  } catch (const std::exception& e) {
    why = e.what();
  }
  if (why = of_all(why); !why.empty()) return why;
  std::vector<std::uint64_t> devices(std::size_t(size_), device);
  finish(devices, "MPI_Iallgather", [&](std::uint64_t* all, MPI_Request* request) {
    return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_UINT64_T, comm_, request);
  });
  std::sort(devices.begin(), devices.end());
  if (std::adjacent_find(devices.begin(), devices.end()) != devices.end())
    return "several ranks have one device; give each one of its own";
  const std::string of_first = text_of(0, std::string(id.data(), id.size()));
  std::copy(of_first.begin(), of_first.end(), id.begin());
  std::shared_ptr<dist_link> link;
  try {
    link = dist_link::connect(id, rank_, size_);
    why = detail::dist_wait_for_link(*link, options.timeout_seconds);
    if (why.empty()) transfers_ = std::make_unique<queue_type>(link->execution_space());
  } catch (const std::exception& e) {
    why = e.what();
  }
  if (!why.empty() && link) link->abort();
  if (const std::string on_any = of_all(why); !on_any.empty()) {
    transfers_.reset();
    if (link) link->abort();
    return on_any;
  }
  link_ = link;
  transport_ = detail::dist_link_transport(comm_, std::move(link), *transfers_, options.timeout_seconds);
  return "";
#else
  return "Keramos was built without the devices' library; install it and configure again (docs/dist.md)";
#endif
}

void communicator::check(int status, const char* function) const {
  detail::check_mpi(status, function, comm_);
}

std::string communicator::text_of(int rank, const std::string& text) {
  std::vector<std::uint64_t> length(1, text.size());
  finish(length, "MPI_Ibcast", [&](std::uint64_t* value, MPI_Request* request) {
    return MPI_Ibcast(value, 1, MPI_UINT64_T, rank, comm_, request);
  });
  std::vector<char> letters(text.begin(), text.end());
  letters.resize(std::size_t(length.front()));
  finish(letters, "MPI_Ibcast", [&](char* all, MPI_Request* request) {
    return MPI_Ibcast(all, int(length.front()), MPI_CHAR, rank, comm_, request);
  });
  return std::string(letters.begin(), letters.end());
}

void communicator::largest(const std::uint64_t* mine, std::uint64_t* most, int count) {
  std::vector<std::uint64_t> numbers(mine, mine + count);
  finish(numbers, "MPI_Iallreduce", [&](std::uint64_t* all, MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, all, count, MPI_UINT64_T, MPI_MAX, comm_, request);
  });
  std::copy(numbers.begin(), numbers.end(), most);
}

void communicator::agree(const std::string& call, failure why, const std::string& message) {
  // All at once: whether hashes are the same (the largest, and the complement of the smallest), and the lowest rank that
  // fails, with why.
  const std::uint64_t hash = hash_of(call);
  const std::uint64_t failing =
      why == failure::none ? 0 : std::uint64_t(size_ - rank_) * failure_kinds + std::uint64_t(why);
  std::uint64_t mine[3] = {hash, ~hash, failing}, most[3];
  all_know_ = false;
  largest(mine, most, 3);
  if (most[2] != 0) {
    const int rank = size_ - int(most[2] / failure_kinds);
    const std::string text = text_of(rank, message) + " (found on rank " + std::to_string(rank) + ")";
    all_know_ = true;
    switch (failure(most[2] % failure_kinds)) {
      case failure::not_initialized:
        throw not_initialized(text);
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
  const std::uint64_t differs = call == first ? 0 : std::uint64_t(size_ - rank_);
  std::uint64_t of_lowest = 0;
  largest(&differs, &of_lowest, 1);
  const int rank = size_ - int(of_lowest);
  const auto [of_first, of_other] = difference(first, text_of(rank, call));
  all_know_ = true;
  throw invalid_argument("keramos::dist: ranks call different things: rank 0 has " + of_first + " but rank " +
                         std::to_string(rank) + " has " + of_other + "; all ranks must pass the same");
}

}  // namespace keramos::dist
