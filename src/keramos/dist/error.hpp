// What fails between ranks.
#pragma once

#include <string>

#include <keramos/base/error.hpp>

namespace keramos::dist {

/// A transfer between ranks failed: the message names the rank that saw it, the call, and the transport's reason.
class KERAMOS_EXPORT communication_error : public error {
 public:
  communication_error(const std::string& what, int rank) : error(what), rank_(rank) {}
  /// The rank that saw it.
  int rank() const { return rank_; }

 private:
  int rank_;
};

}  // namespace keramos::dist
