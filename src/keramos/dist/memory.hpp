// Memory of a rank for panels, sums and messages. Internal.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>
#include <keramos/config.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// Gives out memory of the communicator's device, or of the host that its device reads at full speed. Devices take long to
/// allocate, and wait before they free, so what is given back is kept for the next calls; hosts free it at once.
class KERAMOS_EXPORT dist_pool {
 public:
  enum class kind { device, pinned };
  explicit dist_pool(kind of, bool keeps = !backend::traits<default_execution_space>::is_host)
      : kind_(of), keeps_(keeps) {}
  dist_pool(const dist_pool&) = delete;
  dist_pool& operator=(const dist_pool&) = delete;
  ~dist_pool() { free_all(); }

  struct block {
    char* data = nullptr;
    std::size_t bytes = 0;
  };
  /// At least so many bytes, aligned to 64. @throws memory_error or std::bad_alloc
  block take(std::size_t bytes);
  void give(block b);
  /// From here on what is given back is neither freed nor used again: messages that cannot be ended may still use it.
  void abandon() { is_abandoned_ = true; }
  /// At the end of a call: frees blocks that none of the last few calls used, so that calls of two sizes can alternate. If more
  /// than twice the largest is left, the longest unused go too.
  void trim();
  void free_all();
  /// Bytes that nobody has now.
  std::size_t kept() const;

 private:
  struct idle {
    char* data;
    int age;  // trims since it was asked for
  };
  static constexpr int most_age = 4;
  kind kind_;
  bool keeps_;
  bool is_abandoned_ = false;
  std::multimap<std::size_t, idle> idle_;
};

/// Bytes that a call has allocated, and the most that it had.
struct dist_account {
  dist_pool& pool;
  index_t now = 0, most = 0;

  explicit dist_account(dist_pool& of) : pool(of) {}
  dist_account(const dist_account&) = delete;
  dist_account& operator=(const dist_account&) = delete;
};

/// Memory of a rank that is counted.
class dist_memory {
 public:
  dist_memory() = default;
  dist_memory(dist_account& account, index_t bytes) : account_(&account), bytes_(bytes) {
    if (bytes > 0) block_ = account.pool.take(std::size_t(bytes));
    account.now += bytes;
    if (account.now > account.most) account.most = account.now;
  }
  dist_memory(dist_memory&& other) noexcept { swap(other); }
  dist_memory& operator=(dist_memory&& other) noexcept {
    dist_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~dist_memory() {
    if (!account_) return;
    account_->now -= bytes_;
    if (block_.data) account_->pool.give(block_);
  }
  char* data() const { return block_.data; }

 private:
  void swap(dist_memory& other) noexcept {
    std::swap(account_, other.account_), std::swap(bytes_, other.bytes_), std::swap(block_, other.block_);
  }
  dist_account* account_ = nullptr;
  index_t bytes_ = 0;
  dist_pool::block block_;
};

}  // namespace keramos::detail
