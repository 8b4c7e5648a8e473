# Host threads through Kokkos' own pool, for compilers without OpenMP.
keramos_backend(threads DEVICE THREADS SPACE Kokkos::Threads PRIORITY 20)
