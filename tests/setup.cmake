# cmake/setup.sh builds with all CPUs that there are, whatever OpenMP's variables say. The nproc here obeys them as the
# real one does, on a machine of 64.
#   cmake -DROOT=<Keramos> -DDIR=<folder to use> -P setup.cmake
file(WRITE ${DIR}/nproc "#!/bin/sh\necho \${OMP_NUM_THREADS:-\${OMP_THREAD_LIMIT:-64}}\n")
file(CHMOD ${DIR}/nproc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
foreach(variable IN ITEMS OMP_NUM_THREADS OMP_THREAD_LIMIT)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=OMP_NUM_THREADS --unset=OMP_THREAD_LIMIT ${variable}=1 bash -c
                          "PATH=${DIR}:$PATH; source ${ROOT}/cmake/setup.sh; cmake() { echo \"$@\"; }; build"
                  OUTPUT_VARIABLE out)
  if(NOT out MATCHES "--parallel 64")
    message(SEND_ERROR "with ${variable}=1 setup.sh builds by: ${out}")
  endif()
endforeach()
file(READ ${ROOT}/tests/run run)
if(run MATCHES "nproc")
  message(SEND_ERROR "tests/run asks nproc itself")
endif()
