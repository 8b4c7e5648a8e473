# keramos-perf gemm on real ranks: one file for the job, whole even where a rank fails, dies or hangs.
#   cmake -DPROGRAM=keramos-perf -DWRONG_CBLAS=libwrong_cblas.so -DMPIEXEC=mpirun -P cluster.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
# More ranks than cores, as Open MPI 4 spells it, and as 5 does.
set(ENV{OMPI_MCA_rmaps_base_oversubscribe} 1)
set(ENV{PRTE_MCA_rmaps_default_mapping_policy} :oversubscribe)
# Other processes of the test run use the cores too: a rank that is slow is none that failed.
set(quick --repetitions 2 --sets 1)

function(job expected_status)
  list(JOIN ARGN " " line)
  # Open MPI 5 now and then takes ranks that end at once for ranks that did not start.
  foreach(attempt RANGE 1 3)
    execute_process(COMMAND ${MPIEXEC} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    message("$ mpirun ${line}\n${out}${err}")
    if(NOT err MATCHES "PMIx_Spawn failed")
      break()
    endif()
  endforeach()
  if(NOT status STREQUAL expected_status)
    message(SEND_ERROR "exit status ${status} instead of ${expected_status}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect_rows file wanted)
  file(READ ${file} json)
  string(JSON rows LENGTH "${json}" results)
  if(NOT rows EQUAL wanted)
    message(SEND_ERROR "${file}: ${rows} rows instead of ${wanted}")
  endif()
endfunction()

# Starts a job in the background, waits until `pattern` is in its file, sends rank `rank` a signal.
function(job_with_signal file pattern rank signal)
  file(REMOVE ${file})
  list(JOIN ARGN " " arguments)
  file(WRITE signal.sh "
    ${MPIEXEC} ${arguments} --output ${file} & job=$!
    for ((i = 0; i < 600; ++i)); do
      sleep 0.1
      [[ -e ${file} ]] && grep -q '${pattern}' ${file} || continue
      pid=$(grep -A4 '\"rank\": ${rank},' ${file} | sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' | head -1)
      [[ -n $pid ]] && kill -${signal} $pid && break
    done
    wait $job")
  execute_process(COMMAND bash signal.sh RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  message("$ mpirun ${arguments}\n${out}${err}")
  if(status EQUAL 0)
    message(SEND_ERROR "exit status 0 though rank ${rank} got signal ${signal}")
  endif()
  expect_json(${file} OFF context complete)
  expect_json(${file} failed context ranks ${rank} status)
  file(READ ${file} json)
  string(JSON why GET "${json}" context incomplete_because)
  # MPI ends the others too, of which some may be too late to answer.
  expect("${why}" "(^|; )rank ${rank} on [^;]* failed: ")
endfunction()

foreach(ranks IN ITEMS 2 4)
  foreach(how IN ITEMS --concurrent --isolated)
    job(0 -n ${ranks} ${PROGRAM} gemm --provider keramos --type f64 --size 8,24 ${quick} ${how} --outlier 1000
        --output job.json)
    expect("${out}" "f64 NN right 24 +keramos +${ranks} ranks  median .* slowest .*\\(rank [0-9] on .*spread")
    expect("${out}" "no node or rank takes more than 1000.00 times")
    math(EXPR rows "2 * ${ranks}")
    math(EXPR last "${ranks} - 1")
    expect_rows(job.json ${rows})
    expect_json(job.json ON context complete)
    expect_json(job.json done context ranks ${last} status)
    expect_json(job.json ${ranks} job cases 1 ranks)
    expect_json(job.json 0 results 0 rank)
  endforeach()
endforeach()

# Taken up again: nothing is left to do.
job(0 -n 4 ${PROGRAM} gemm --provider keramos --type f64 --size 8,24 ${quick} --isolated --outlier 1000
    --output job.json --resume)
expect("${out}" "8 rows are kept of the run of ")
expect_rows(job.json 8)
expect_json(job.json ON context complete)

# A wrong result on every rank: status 1 and a line for each.
job(1 -n 2 ${PROGRAM} gemm --provider blas=${WRONG_CBLAS} --type f64 --size 24 ${quick} --output job.json)
expect("${out}" "rank 1 on [^\n]*wrongblas-1.0 WRONG: element")
expect_json(job.json ON context complete)
expect_json(job.json OFF results 1 verified)

# A rank that cannot start: named, status 1, the other's rows are there.
job(1 -n 1 ${PROGRAM} gemm --provider keramos --type f64 --size 8,24 ${quick} --output job.json :
    -n 1 ${PROGRAM} gemm --provider blas=none.so --type f64 --size 8,24 ${quick} --output job.json)
cmake_host_system_information(RESULT host QUERY HOSTNAME)
expect("${out}" "FAILED: rank 1 on ${host}: .*none.so: cannot open")
expect_json(job.json failed context ranks 1 status)
expect_json(job.json OFF context complete)
expect_rows(job.json 2)

# A rank that dies in the second case (of 667 rows, which takes that library an hour): the file is
# valid, has the first case of all ranks and names it.
job_with_signal(killed.json "\"m\": 8" 2 KILL -n 4 ${PROGRAM} gemm --provider blas=${WRONG_CBLAS} --type f64
                --m 8,667 --n 9 --k 9 ${quick})
expect_rows(killed.json 4)

# One that hangs is given up, and the others go on.
job_with_signal(stopped.json "\"status\": \"running\"" 1 STOP -n 2 ${PROGRAM} gemm --provider keramos --type f64
                --m 8,24,40 --n 8 --k 8 --repetitions 40 --sets 1 --rank-timeout 5)
file(READ stopped.json json)
string(JSON rows LENGTH "${json}" results)
if(rows LESS 3)
  message(SEND_ERROR "${rows} rows, less than rank 0 alone has")
endif()

# A library that hangs on one rank fails its row; the rank, which says all the while that it is alive, is not given up.
set(shapes --type f64 --m 8,667,24 --n 9 --k 9 ${quick} --provider-timeout 8 --rank-timeout 4)
job(1 -n 1 ${PROGRAM} gemm --provider keramos ${shapes} --output hang.json :
    -n 1 ${PROGRAM} gemm --provider blas=${WRONG_CBLAS} ${shapes} --output hang.json)
expect("${out}" "rank 1 on [^\n]*wrongblas-1.0 FAILED: no answer for 8 s")
expect_rows(hang.json 6)
expect_json(hang.json ON context complete)

# Rank 0 that hangs, or died, is noticed by the others: they name it and let go of the allocation.
file(REMOVE lost.json)
list(JOIN quick " " options)
file(WRITE lost.sh "
  ${MPIEXEC} -n 3 ${PROGRAM} gemm --provider keramos --type f64 --size 200:1000:+1 ${options} --rank-timeout 5 \\
    --output lost.json & job=$!
  for ((i = 0; i < 600; ++i)); do
    sleep 0.1
    [[ -e lost.json ]] && grep -q '\"m\": 200' lost.json && break
  done
  leader=$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' lost.json | head -1)
  kill -STOP $leader
  for ((i = 0; i < 600; ++i)); do
    sleep 0.1
    kill -0 $job 2>/dev/null || break
  done
  kill -KILL $leader 2>/dev/null
  kill -KILL $job 2>/dev/null && echo 'THE JOB DID NOT END'
  wait $job")
execute_process(COMMAND bash lost.sh RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
message("${out}${err}")
if(status EQUAL 0 OR out MATCHES "DID NOT END")
  message(SEND_ERROR "exit status ${status} though rank 0 was stopped")
endif()
expect("${err}" "keramos-perf: rank [12] on ${host}: no word from rank 0 on ${host} \\(process [0-9]+\\) for ")

# Ranks that share CPUs are told of: more than there are.
cmake_host_system_information(RESULT cpus QUERY NUMBER_OF_LOGICAL_CORES)
if(cpus LESS 16)
  math(EXPR ranks "${cpus} + 1")
  job(0 -n ${ranks} --bind-to none ${PROGRAM} gemm --provider keramos --type f64 --size 8 ${quick} --outlier 1000
      --output shared.json)
  expect("${out}" "WARNING: ranks [0-9]+, [0-9]+[^\n]* on ${host} share CPU")
  file(READ shared.json json)
  string(JSON warning GET "${json}" context warnings 0)
  expect("${warning}" "share CPU")
endif()

# The other commands run once.
job(2 -n 2 ${PROGRAM} compare job.json job.json)
