# What perf/run builds and runs for which arguments, with a cmake that notes how it is called and builds a program that does so.
#   cmake -DROOT=<Keramos> -P run.cmake
file(REMOVE_RECURSE run)
foreach(path IN ITEMS perf/run cmake/setup.sh src/keramos/gemm/types.hpp)
  get_filename_component(folder ${path} DIRECTORY)
  file(COPY ${ROOT}/${path} DESTINATION run/${folder})
endforeach()
file(WRITE run/bin/cmake [=[#!/bin/bash
while [[ $# != 0 ]]; do
  case $1 in
    -B) build=$2 ;;
    --build) program=$2/perf/keramos-perf ;;
    -DKERAMOS_TYPES=*) types=${1#*=} ;;
  esac
  shift
done
if [[ -v program ]]; then
  mkdir -p "$(dirname "$program")"
  echo 'echo "RUN $0 $*"' >"$program" && chmod +x "$program"
else
  mkdir -p "$build" && echo "KERAMOS_TYPES:STRING=${types-}" >"$build/CMakeCache.txt"
  echo "TYPES ${types-all}"
fi
]=])
file(WRITE run/bin/dpkg-query "#!/bin/sh\necho install ok installed\n")
file(WRITE run/bin/python3 "#!/bin/sh\n")
file(CHMOD run/bin/cmake run/bin/dpkg-query run/bin/python3
     PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# expect(<what is printed> <arguments...>)
function(expect expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=KERAMOS_BACKEND "PATH=${CMAKE_CURRENT_BINARY_DIR}/run/bin:$ENV{PATH}"
                          bash run/perf/run ${ARGN}
                  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
  if(status OR NOT out MATCHES "${expected}")
    message(SEND_ERROR "perf/run ${ARGN}: exit status ${status}, and not '${expected}':\n${out}")
  endif()
endfunction()

set(small "RUN [^ ]*build/system-gemm/perf/keramos-perf")
expect("TYPES f32;f64\n.*${small} gemm --type f32,f64 --output /[^ ]*/run/build/system/perf/results.json\n.*results: /[^ ]*/run/build/system/perf/results.json")
expect("TYPES f32;f64\n.*${small} gemm --type f64 --output=there.json\n.*plots:   ./gemm.png.*results: there.json" --type f64 --output=there.json)
# What it was built for stays in it, so that only what is new is compiled.
expect("TYPES f32;f64;bf16;c32\n.*${small} gemm --type=bf16,f32,c32 " gemm --type=bf16,f32,c32)
expect("TYPES f32;f64;bf16;c32\n.*${small} gemm --size 64 --type f32,f64 " --size 64)
expect("TYPES f32;f64;bf16;c32;i32\n.*${small} batched --type i32\n$" batched --type i32)
# The program says what it thinks of this.
expect("TYPES f32;f64;bf16;c32;i32\n.*${small} gemm --type f31 " --type f31)
expect("${small} gemm --help\n$" --help)
expect("TYPES f32;f64;bf16;c32;i32\n.*${small} explain --type f32 --size 1000\n$" explain --type f32 --size 1000)
expect("TYPES f32;f64;bf16;c32;i32\n.*${small} info\n$" info)
# From another folder results and paths are found as they are written there.
set(bash_script [=[cd run/bin && bash ../perf/run "$@"]=])
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=KERAMOS_BACKEND "PATH=${CMAKE_CURRENT_BINARY_DIR}/run/bin:$ENV{PATH}"
                        bash -c "${bash_script}" - --output here.json
                OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
if(status OR NOT out MATCHES "RUN /[^ ]*/run/build/system-gemm/perf/keramos-perf gemm --output here.json .*results: here.json")
  message(SEND_ERROR "perf/run from another folder: ${status}:\n${out}")
endif()
# Other commands are in the program with all types.
expect("TYPES all\n.*RUN [^ ]*build/system/perf/keramos-perf ladder --type f32\n$" ladder --type f32)
