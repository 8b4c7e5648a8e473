#!/usr/bin/env bash
# keramos-perf on every GPU of a Slurm allocation, or on every node's cores:
#   sbatch --nodes 4 --gpus-per-node 4 --ntasks-per-node 4 perf/cluster/slurm.sh --type f64 --size 4096
#   sbatch --nodes 4 --ntasks-per-node 1 --exclusive perf/cluster/slurm.sh --type f64 --size 4096
# With `distributed` first, one product over all ranks, each with its cores (--cpus-per-task):
#   sbatch --nodes 4 --gpus-per-node 4 --ntasks-per-node 4 --cpus-per-task 16 perf/cluster/slurm.sh distributed --size 32768
# Add your site's --account and --partition. KERAMOS_PERF names the program, RESULTS the file.
#SBATCH --job-name=keramos-perf
#SBATCH --time=00:30:00
#SBATCH --signal=TERM@60
set -euo pipefail
program=${KERAMOS_PERF:-build/system/perf/keramos-perf}
results=${RESULTS:-keramos-perf-$SLURM_JOB_ID.json}
# --mpi: what `srun --mpi=list` offers and the MPI was built with.
launch=(srun --mpi="${SLURM_MPI_TYPE:-pmix}")
if [[ ${1:-} == distributed ]]; then
  shift
  # A rank that fails ends the others, which wait for it. srun does not give them the batch script's --cpus-per-task by itself.
  launch+=(--kill-on-bad-exit=1 --cpu-bind=cores ${SLURM_CPUS_PER_TASK:+--cpus-per-task="$SLURM_CPUS_PER_TASK"})
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-${SLURM_CPUS_PER_TASK:-1}}
  exec "${launch[@]}" "$program" distributed --output "$results" "$@"
fi
# A job that is requeued goes on where it ended.
resume=(${SLURM_RESTART_COUNT:+--resume})
# --kill-on-bad-exit=0: a rank that fails does not end the others; the program names it and goes on.
exec "${launch[@]}" --kill-on-bad-exit=0 "$program" gemm "${resume[@]}" --output "$results" "$@"
