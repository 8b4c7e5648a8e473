#!/usr/bin/env bash
# keramos-perf on every GPU of a Slurm allocation, or on every node's cores:
#   sbatch --nodes 4 --gpus-per-node 4 --ntasks-per-node 4 perf/cluster/slurm.sh --type f64 --size 4096
#   sbatch --nodes 4 --ntasks-per-node 1 --exclusive perf/cluster/slurm.sh --type f64 --size 4096
# Add your site's --account and --partition. KERAMOS_PERF names the program, RESULTS the file.
#SBATCH --job-name=keramos-perf
#SBATCH --time=00:30:00
#SBATCH --signal=TERM@60
set -euo pipefail
# A job that is requeued goes on where it ended.
resume=(${SLURM_RESTART_COUNT:+--resume})
program=${KERAMOS_PERF:-build/system/perf/keramos-perf}
results=${RESULTS:-keramos-perf-$SLURM_JOB_ID.json}
# --kill-on-bad-exit=0: a rank that fails does not end the others; the program names it and goes on.
# --mpi: what `srun --mpi=list` offers and the MPI was built with.
exec srun --kill-on-bad-exit=0 --mpi="${SLURM_MPI_TYPE:-pmix}" "$program" gemm "${resume[@]}" \
  --output "$results" "$@"
