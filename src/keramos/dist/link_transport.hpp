// Messages from device to device by the vendor's library. Internal.
#pragma once

#include <memory>
#include <string>

#include <keramos/backends/device_link.hpp>
#include <keramos/base/export.hpp>
#include <keramos/dist/communicator.hpp>

namespace keramos::detail {

using dist_link = backend::device_link<dist::communicator::execution_space>;

/// Waits until the link takes work; what fails, or takes longer than `seconds`, is what it returns.
KERAMOS_EXPORT std::string dist_wait_for_link(dist_link& link, double seconds);

/// A link that is ready, on whose instance `transfers` is a queue. Its failure on one rank is told to all.
KERAMOS_EXPORT std::unique_ptr<dist::transport> dist_link_transport(MPI_Comm comm,
                                                                    std::shared_ptr<dist_link> link,
                                                                    dist::communicator::queue_type& transfers,
                                                                    double timeout_seconds);

}  // namespace keramos::detail
