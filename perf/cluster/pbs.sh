#!/usr/bin/env bash
# keramos-perf on every GPU of a PBS allocation, or on every node's cores:
#   qsub -l select=4:ncpus=64:ngpus=4:mpiprocs=4 -v OPTIONS="--type f64 --size 4096" perf/cluster/pbs.sh
#   qsub -l select=4:ncpus=64:mpiprocs=1 -v OPTIONS="--type f64 --size 4096" perf/cluster/pbs.sh
# With `distributed` first, one product over all ranks, each with OMP_NUM_THREADS cores (PBS: ompthreads):
#   qsub -l select=4:ncpus=64:ngpus=4:mpiprocs=4:ompthreads=16 -v OPTIONS="distributed --size 32768" perf/cluster/pbs.sh
# Add your site's -A and -q. KERAMOS_PERF names the program, RESULTS the file (pass them with -v too).
#PBS -N keramos-perf
#PBS -l walltime=00:30:00
#PBS -j oe
set -euo pipefail
cd "$PBS_O_WORKDIR"
program=${KERAMOS_PERF:-build/system/perf/keramos-perf}
results=${RESULTS:-keramos-perf-${PBS_JOBID%%.*}.json}
# OPTIONS is split into words on purpose.
# shellcheck disable=SC2086
set -- ${OPTIONS:-} "$@"
ranks=$(wc -l <"$PBS_NODEFILE")
# One line of the node file for each rank.
launch=(mpirun -n "$ranks")
is_open_mpi=
if mpirun --version 2>&1 | grep -q 'Open MPI'; then
  is_open_mpi=yes
  launch+=(--hostfile "$PBS_NODEFILE")
fi
if [[ ${1:-} == distributed ]]; then
  shift
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
  if [[ $is_open_mpi ]]; then launch+=(--map-by "slot:PE=$OMP_NUM_THREADS" --bind-to core -x OMP_NUM_THREADS); fi
  exec "${launch[@]}" "$program" distributed --output "$results" "$@"
fi
# The ranks share out each node's cores and GPUs themselves.
if [[ $is_open_mpi ]]; then launch+=(--bind-to none); fi
# A job that is run again goes on with its file, whose name is the job's own.
resume=()
if [[ -z ${RESULTS:-} ]]; then resume=(--resume); fi
exec "${launch[@]}" "$program" gemm "${resume[@]}" --output "$results" "$@"
