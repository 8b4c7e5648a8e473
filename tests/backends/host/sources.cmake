# The atoms of each instruction set that the library was compiled for, with its flags and no Kokkos.
foreach(isa IN LISTS KERAMOS_HOST_ISAS)
  get_target_property(options keramos_host_${isa} COMPILE_OPTIONS)
  add_library(backends_host_${isa} OBJECT backends/host/instruction_set.cpp)
  target_compile_features(backends_host_${isa} PRIVATE cxx_std_20)
  target_include_directories(backends_host_${isa} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include)
  target_compile_definitions(backends_host_${isa} PRIVATE KERAMOS_HOST_ISA=${isa})
  # Plain loops stay plain: they are what atoms are compared with, and g++ 12 fails on some of them for SVE of 512 bits.
  target_compile_options(backends_host_${isa} PRIVATE ${options} -fno-tree-vectorize)
  target_sources(backends_tests PRIVATE $<TARGET_OBJECTS:backends_host_${isa}>)
endforeach()
