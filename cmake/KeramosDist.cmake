# keramos::dist, products over the ranks of MPI, as a library of its own: who does not link it needs no MPI.
set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is all that is used
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(FATAL_ERROR "Keramos: KERAMOS_MPI is on, but no MPI was found: install libopenmpi-dev and openmpi-bin, name its "
                      "compiler with -DMPI_CXX_COMPILER, or configure with -DKERAMOS_MPI=OFF")
endif()

add_library(keramos_dist src/dist/alarm.cpp src/dist/choose.cpp src/dist/communicator.cpp src/dist/elements.cpp src/dist/gemm.cpp
  src/dist/layout.cpp src/dist/link_transport.cpp src/dist/memory.cpp src/dist/move.cpp src/dist/mpi_transport.cpp
  src/dist/operand.cpp src/dist/path.cpp src/dist/plan.cpp src/dist/product_memory.cpp src/dist/route.cpp src/dist/schedule.cpp
  src/dist/staged_transport.cpp src/dist/traffic.cpp)
add_library(Keramos::dist ALIAS keramos_dist)
target_link_libraries(keramos_dist PUBLIC keramos MPI::MPI_CXX)
set_target_properties(keramos_dist PROPERTIES EXPORT_NAME dist UNITY_BUILD OFF POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
keramos_add_device_link(keramos_dist)
keramos_sources_language(keramos_dist)
keramos_warnings(keramos_dist)
keramos_precompile(keramos_dist REUSE_FROM keramos)

# ScaLAPACK's p?gemm_ by keramos::dist::gemm, to be preloaded or linked before ScaLAPACK, whose BLACS it uses: any, so that it
# is not linked here. It shows nothing but these routines.
if(KERAMOS_PBLAS)
  add_library(keramos_pblas SHARED src/dist/pblas.cpp)
  add_library(Keramos::pblas ALIAS keramos_pblas)
  target_link_libraries(keramos_pblas PRIVATE keramos_dist ${CMAKE_DL_LIBS})
  set(shown "${PROJECT_SOURCE_DIR}/src/dist/pblas.map")
  target_link_options(keramos_pblas PRIVATE LINKER:--version-script=${shown} LINKER:-z,lazy)
  set_target_properties(keramos_pblas PROPERTIES EXPORT_NAME pblas LINK_DEPENDS "${shown}" VERSION ${PROJECT_VERSION}
                                                 SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  keramos_sources_language(keramos_pblas)
  keramos_warnings(keramos_pblas)
endif()
