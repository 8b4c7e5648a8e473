# Host threads through OpenMP.
keramos_backend(openmp DEVICE OPENMP SPACE Kokkos::OpenMP PRIORITY 30)
