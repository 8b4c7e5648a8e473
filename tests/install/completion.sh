#!/usr/bin/env bash
# What bash completes once keramos-perf is installed:  completion.sh <prefix>
set -uo pipefail
PATH=$1/bin:$PATH
source "$1/share/bash-completion/completions/keramos-perf"
failed=0
completes() {  # completes <what must come> <words...>
  COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMPREPLY=()
  _keramos_perf
  [[ ${COMPREPLY[*]} == "$1" ]] || { echo "'${*:2}' is completed by '${COMPREPLY[*]}', not by '$1'"; failed=1; }
}
completes gemm keramos-perf ge
completes '--provider --provider-timeout' keramos-perf gemm --prov
completes '' keramos-perf gemm --type --prov  # a value is due
completes '' keramos-perf worke               # not for people
exit $failed
