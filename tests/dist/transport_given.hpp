// How programs of ranks are told which transport to take.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <keramos/dist/communicator.hpp>

namespace keramos::test {

/// By KERAMOS_TRANSPORT in the environment: automatic (also if it is not set), devices, mpi or staged.
inline dist::communicator_options options_given() {
  using kind = dist::transport_kind;
  dist::communicator_options options;
  const char* const given = std::getenv("KERAMOS_TRANSPORT");
  const std::string name = given ? given : "automatic";
  if (name == "devices")
    options.transport = kind::devices;
  else if (name == "mpi")
    options.transport = kind::mpi;
  else if (name == "staged")
    options.transport = kind::staged;
  else if (name != "automatic")
    throw std::invalid_argument("KERAMOS_TRANSPORT is " + name +
                                " but must be automatic, devices, mpi or staged");
  return options;
}

}  // namespace keramos::test
