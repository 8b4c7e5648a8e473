# keramos-perf roofline as a user would call it.
#   cmake -DPROGRAM=keramos-perf -P roofline.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

# A synthetic kernel of known intensity: 2e9 operations on 8e9 bytes in 10 ms, so 0.25 FLOP/B at 200 GFLOP/s.
file(WRITE synthetic.json [[{"schema": "keramos-perf/1", "context": {"device": "NVIDIA A100"}, "results": [
  {"provider": "synthetic", "type": "f32", "memory_bytes": 8e9, "median_s": 0.01, "gflops": 200.0}]}]])
run(0 roofline synthetic.json --device-spec a100-sxm4-40gb --output roofline.json)
expect("${out}" "f32 peak +19500 GFLOP/s, ridge point 12.5 FLOP/B")
expect("${out}" "the kernels were measured on NVIDIA A100\n")
expect("${out}" "synthetic +f32 +0.25 +- +200.0 +memory +388.8 +51%")
expect_json(roofline.json memory kernels 0 bound)
expect_json(roofline.json 388.75 kernels 0 attainable_gflops)

# Every device that is shipped, by its name; none without a source.
file(GLOB specs ${SPECS}/*.json)
list(LENGTH specs count)
if(count LESS 12)
  message(SEND_ERROR "${count} specs in ${SPECS}")
endif()
foreach(spec IN LISTS specs)
  get_filename_component(name ${spec} NAME_WE)
  run(0 roofline synthetic.json --device-spec ${name})
  expect("${out}" "synthetic +f32 +0.25 +- +200.0 +memory +[0-9.]+ +[0-9]+%")
  file(READ ${spec} json)
  string(JSON sources LENGTH "${json}" sources)
  if(sources LESS 1)
    message(SEND_ERROR "${spec} has no sources")
  endif()
endforeach()

# The machine at hand, and its spec used again.
run(0 roofline --save-spec here.json)
expect("${out}" "memory +[0-9.]+ GB/s")
expect("${out}" "f64 peak +[0-9.]+ GFLOP/s|f64 matrix peak +[0-9.]+ GFLOP/s")
run(0 roofline synthetic.json --device-spec here.json --format json)
expect("${out}" "keramos-perf-roofline/1")

# Pictures, where there is something to draw them with.
execute_process(COMMAND python3 -c "import matplotlib" RESULT_VARIABLE no_python ERROR_QUIET)
execute_process(COMMAND /usr/bin/python3 -c "import matplotlib" RESULT_VARIABLE no_debian_python ERROR_QUIET)
file(REMOVE roofline.png roofline.svg)
if(no_python EQUAL 0 OR no_debian_python EQUAL 0)
  run(0 roofline synthetic.json --device-spec a100-sxm4-40gb --plot roofline)
  foreach(picture IN ITEMS roofline.png roofline.svg)
    if(NOT EXISTS ${CMAKE_CURRENT_BINARY_DIR}/${picture})
      message(SEND_ERROR "no ${picture}")
    endif()
  endforeach()
else()
  run(1 roofline synthetic.json --device-spec a100-sxm4-40gb --plot roofline)
  expect("${err}" "install python3-matplotlib")
endif()

file(WRITE other.json "{}")
foreach(arguments IN ITEMS "none.json" "other.json" "synthetic.json" "--device-spec;none" "--format;xml"
                           "--device-spec;a100-sxm4-40gb;--output;none/x.json" "--bogus")
  run(2 roofline ${arguments})
  expect("${err}" "keramos-perf: [^\n]*write [^\n]*\n$")  # Kokkos may have warned before, where it was started
endforeach()
run(0 roofline --help)
expect("${out}" "--device-spec")
