#!/usr/bin/env bash
# keramos-perf on every GPU of a Flux allocation, or on every node's cores:
#   flux batch -N 4 --exclusive perf/cluster/flux.sh --type f64 --size 4096
# With `distributed` first, one product over all ranks, which share out each node's cores:
#   flux batch -N 4 --exclusive perf/cluster/flux.sh distributed --size 32768
# TASKS_PER_NODE (default: the node's GPUs, or 1), KERAMOS_PERF and RESULTS may be set before.
# flux: --job-name=keramos-perf
# flux: --time-limit=30m
set -euo pipefail
program=${KERAMOS_PERF:-build/system/perf/keramos-perf}
results=${RESULTS:-keramos-perf-$(flux getattr jobid).json}
nodes=$(flux resource list -s up -n -o '{nnodes}')
gpus=$(flux resource list -s up -n -o '{ngpus}')
tasks=${TASKS_PER_NODE:-$((gpus > nodes ? gpus / nodes : 1))}
launch=(flux run -N "$nodes" --tasks-per-node "$tasks" --exclusive -o cpu-affinity=per-task)
if ((gpus > 0)); then launch+=(-o gpu-affinity=per-task); fi
if [[ ${1:-} == distributed ]]; then
  shift
  cores=$(flux resource list -s up -n -o '{ncores}')
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores / nodes / tasks > 0 ? cores / nodes / tasks : 1))}
  # A rank that fails ends the others, which wait for it.
  exec "${launch[@]}" -o exit-timeout=30s "$program" distributed --output "$results" "$@"
fi
# exit-timeout=none: a rank that fails does not end the others; the program names it and goes on.
exec "${launch[@]}" -o exit-timeout=none "$program" gemm --output "$results" "$@"
