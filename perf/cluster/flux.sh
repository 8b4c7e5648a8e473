#!/usr/bin/env bash
# keramos-perf on every GPU of a Flux allocation, or on every node's cores:
#   flux batch -N 4 --exclusive perf/cluster/flux.sh --type f64 --size 4096
# TASKS_PER_NODE (default: the node's GPUs, or 1), KERAMOS_PERF and RESULTS may be set before.
# flux: --job-name=keramos-perf
# flux: --time-limit=30m
set -euo pipefail
program=${KERAMOS_PERF:-build/system/perf/keramos-perf}
results=${RESULTS:-keramos-perf-$(flux getattr jobid).json}
nodes=$(flux resource list -s up -n -o '{nnodes}')
gpus=$(flux resource list -s up -n -o '{ngpus}')
tasks=${TASKS_PER_NODE:-$((gpus > nodes ? gpus / nodes : 1))}
binding=(-o cpu-affinity=per-task)
if ((gpus > 0)); then binding+=(-o gpu-affinity=per-task); fi
# exit-timeout=none: a rank that fails does not end the others; the program names it and goes on.
exec flux run -N "$nodes" --tasks-per-node "$tasks" --exclusive "${binding[@]}" -o exit-timeout=none \
  "$program" gemm --output "$results" "$@"
