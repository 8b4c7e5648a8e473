# keramos::dist, products over the ranks of MPI, as a library of its own: who does not link it needs no MPI.
set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is all that is used
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(FATAL_ERROR "Keramos: KERAMOS_MPI is on, but no MPI was found: install libopenmpi-dev and openmpi-bin, name its "
                      "compiler with -DMPI_CXX_COMPILER, or configure with -DKERAMOS_MPI=OFF")
endif()

add_library(keramos_dist src/dist/communicator.cpp src/dist/elements.cpp src/dist/gemm.cpp src/dist/layout.cpp
  src/dist/link_transport.cpp src/dist/memory.cpp src/dist/move.cpp src/dist/mpi_transport.cpp
  src/dist/schedule.cpp src/dist/staged_transport.cpp)
add_library(Keramos::dist ALIAS keramos_dist)
target_link_libraries(keramos_dist PUBLIC keramos MPI::MPI_CXX)
set_target_properties(keramos_dist PROPERTIES EXPORT_NAME dist POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
keramos_add_device_link(keramos_dist)
keramos_sources_language(keramos_dist)
keramos_warnings(keramos_dist)
