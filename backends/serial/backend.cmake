# One host thread: always there, the reference for all others.
keramos_backend(serial DEVICE SERIAL SPACE Kokkos::Serial PRIORITY 10)
