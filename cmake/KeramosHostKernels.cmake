# nvcc_wrapper tells CMake that it is the host compiler behind it, but not when asked for --version.
# With KERAMOS_HOST_ONLY it is that compiler; and hipcc, which compiles all files for GPUs as well, is clang.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version OUTPUT_VARIABLE version ERROR_QUIET)
set(KERAMOS_HOST_ONLY "")
if(version MATCHES "nvcc")
  set(KERAMOS_HOST_ONLY --host-only)
elseif(version MATCHES "HIP version")
  set(KERAMOS_HOST_ONLY "SHELL:-x c++")
endif()

# src/gemm/host_kernels.cpp holds the host micro-kernels and includes no Kokkos, so that it can be
# compiled once per instruction set, by the plain host compiler, whatever compiles the rest.
# The library picks one when it runs. Sets KERAMOS_HAS_HOST_<ISA> for config.hpp, and KERAMOS_HOST_ISAS: each has a target
# keramos_host_<isa>.
function(keramos_add_host_kernels library)
  set(isas baseline)
  set(flags_baseline "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(APPEND isas avx2 avx512 avx512_vnni avx512_bf16 amx)
    # Loops begin with a line of the cache: from Zen 3's cache of decoded instructions the micro-kernel's comes up to a tenth
    # faster then.
    set(flags_avx2 -mavx2 -mfma -falign-loops=64)
    set(flags_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma)
    set(flags_avx512_vnni ${flags_avx512} -mavx512vnni -DKERAMOS_HOST_ALONE -DKERAMOS_HOST_I8)
    set(flags_avx512_bf16 ${flags_avx512} -mavx512bf16 -DKERAMOS_HOST_ALONE -DKERAMOS_HOST_BF16)
    set(flags_amx ${flags_avx512} -mamx-tile -mamx-bf16 -mamx-int8 -DKERAMOS_HOST_ALONE -DKERAMOS_HOST_MATRIX
                  -DKERAMOS_HOST_BF16 -DKERAMOS_HOST_I8)
    set(KERAMOS_HAS_HOST_AVX2 ON PARENT_SCOPE)
    set(KERAMOS_HAS_HOST_AVX512 ON PARENT_SCOPE)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    list(APPEND isas neon_dot)
    set(flags_neon_dot -march=armv8.2-a+dotprod -DKERAMOS_HOST_ALONE -DKERAMOS_HOST_I8)
    # SVE of lengths that are known when compiling. 128 bits are the baseline's NEON.
    foreach(bits IN ITEMS 256 512)
      list(APPEND isas sve${bits})
      set(flags_sve${bits} -march=armv8.2-a+sve -msve-vector-bits=${bits})
    endforeach()
    set(KERAMOS_HAS_HOST_ARM ON PARENT_SCOPE)
  endif()
  if(KERAMOS_NATIVE AND NOT "avx2" IN_LIST isas)
    include(CheckCXXCompilerFlag)
    foreach(flag IN ITEMS -mcpu=native -march=native)  # Arm and Power know the first, RISC-V the second
      string(MAKE_C_IDENTIFIER "KERAMOS_COMPILER_HAS${flag}" has)
      check_cxx_compiler_flag(${flag} ${has})
      if(${has})
        set(flags_baseline ${flag})
        break()
      endif()
    endforeach()
  endif()

  set(KERAMOS_HOST_ISAS ${isas} PARENT_SCOPE)

  # Optimised in Debug builds too: unoptimised, these loops are a hundred times slower, but compile in a tenth of the time. With
  # sanitizers clang would take minutes for each instruction set; AddressSanitizer sees null and what is outside of objects, and
  # unaligned vectors are what is meant.
  set(KERAMOS_HOST_OPTIMISED -O3 CACHE STRING "How hosts' kernels are optimised, in builds of any type; -O0 to try out installing")
  mark_as_advanced(KERAMOS_HOST_OPTIMISED)
  set(optimised ${KERAMOS_HOST_OPTIMISED})
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    set(optimised -O1)
    if(CMAKE_CXX_FLAGS MATCHES "undefined")
      list(APPEND optimised -fno-sanitize=pointer-overflow,null,alignment,object-size)
    endif()
    # Functions that look at addresses, instead of code at each access: a third of the time for clang.
    if(CMAKE_CXX_FLAGS MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      list(APPEND optimised -fsanitize-address-outline-instrumentation)
    endif()
  endif()

  foreach(isa IN LISTS isas)
    set(object keramos_host_${isa})
    add_library(${object} OBJECT src/gemm/host_kernels.cpp)
    target_compile_features(${object} PRIVATE cxx_std_20)
    target_include_directories(${object} PRIVATE src "${PROJECT_BINARY_DIR}/include")
    target_compile_definitions(${object} PRIVATE KERAMOS_HOST_ISA=${isa})
    target_compile_options(${object} PRIVATE ${KERAMOS_HOST_ONLY} ${flags_${isa}} ${optimised} -ffp-contract=fast
                                             -fno-math-errno)
    set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    keramos_warnings(${object})
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()
