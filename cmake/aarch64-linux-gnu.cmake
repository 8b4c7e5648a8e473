# Cross-compiles for 64-bit Arm with Debian's g++-aarch64-linux-gnu; programs run under qemu-aarch64 (qemu-user).
#   cmake --toolchain cmake/aarch64-linux-gnu.cmake -DKERAMOS_SYSROOT=<folder with Kokkos and GoogleTest for arm64> ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

set(KERAMOS_SYSROOT "" CACHE PATH "Packages for arm64, unpacked")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KERAMOS_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${KERAMOS_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
