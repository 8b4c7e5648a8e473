# What the job scripts ask of their schedulers, which print it here instead.
#   cmake -DSCRIPTS=perf/cluster -P cluster_scripts.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
file(REMOVE_RECURSE schedulers)
foreach(launcher IN ITEMS srun mpirun)
  file(WRITE schedulers/${launcher}
       "#!/bin/sh\n[ \"$1\" = --version ] && echo 'mpirun (Open MPI) 4.1' || echo ${launcher} \"$@\" with $OMP_NUM_THREADS threads\n")
endforeach()
file(WRITE schedulers/flux "#!/bin/sh
case \"$*\" in
  'getattr jobid') echo f9 ;;
  *nnodes*) echo 2 ;;
  *ngpus*) echo 8 ;;
  *ncores*) echo 96 ;;
  *) echo flux \"$@\" with $OMP_NUM_THREADS threads ;;
esac\n")
file(WRITE schedulers/nodes "a\na\nb\nb\n")
execute_process(COMMAND chmod +x schedulers/srun schedulers/mpirun schedulers/flux)
set(ENV{PATH} "${CMAKE_CURRENT_BINARY_DIR}/schedulers:$ENV{PATH}")
set(ENV{KERAMOS_PERF} program)

# expect_launch(<script> <line> <NAME=value or argument>...)
function(expect_launch script line)
  execute_process(COMMAND env -u OMP_NUM_THREADS -u RESULTS ${CMAKE_COMMAND} -E env ${ARGN} RESULT_VARIABLE status
                  OUTPUT_VARIABLE out ERROR_VARIABLE err OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0 OR NOT out STREQUAL line)
    message(SEND_ERROR "${script} launched\n  ${out}\ninstead of\n  ${line}\n${err}")
  endif()
endfunction()

set(slurm bash ${SCRIPTS}/slurm.sh)
expect_launch(slurm "srun --mpi=pmix --kill-on-bad-exit=0 program gemm --output keramos-perf-7.json --size 9 with threads"
              SLURM_JOB_ID=7 ${slurm} --size 9)
expect_launch(slurm "srun --mpi=pmi2 --kill-on-bad-exit=0 program gemm --resume --output r.json --size 9 with threads"
              SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1 SLURM_MPI_TYPE=pmi2 RESULTS=r.json ${slurm} --size 9)
expect_launch(slurm "srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=cores --cpus-per-task=3 program distributed --output keramos-perf-7.json --size 9 with 3 threads"
              SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1 SLURM_CPUS_PER_TASK=3 ${slurm} distributed --size 9)
expect_launch(slurm "srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=cores program distributed --output keramos-perf-7.json with 1 threads"
              SLURM_JOB_ID=7 ${slurm} distributed)

set(pbs PBS_O_WORKDIR=. PBS_JOBID=8.server PBS_NODEFILE=schedulers/nodes)
expect_launch(pbs "mpirun -n 4 --hostfile schedulers/nodes --bind-to none program gemm --resume --output keramos-perf-8.json --size 9 with threads"
              ${pbs} "OPTIONS=--size 9" bash ${SCRIPTS}/pbs.sh)
expect_launch(pbs "mpirun -n 4 --hostfile schedulers/nodes --map-by slot:PE=6 --bind-to core -x OMP_NUM_THREADS program distributed --output r.json --size 9 with 6 threads"
              ${pbs} "OPTIONS=distributed --size 9" OMP_NUM_THREADS=6 RESULTS=r.json bash ${SCRIPTS}/pbs.sh)

set(flux bash ${SCRIPTS}/flux.sh)
set(run "flux run -N 2 --tasks-per-node 4 --exclusive -o cpu-affinity=per-task -o gpu-affinity=per-task")
expect_launch(flux "${run} -o exit-timeout=none program gemm --output keramos-perf-f9.json --size 9 with threads"
              ${flux} --size 9)
expect_launch(flux "${run} -o exit-timeout=30s program distributed --output keramos-perf-f9.json --size 9 with 12 threads"
              ${flux} distributed --size 9)
