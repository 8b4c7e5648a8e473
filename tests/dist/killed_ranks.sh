#!/usr/bin/env bash
# One of four ranks dies at a random moment: the job must end soon, with a status that is not 0, and leave no process.
#   bash killed_ranks.sh <rounds> <program> <what starts four ranks...>
rounds=$1 program=$2
shift 2
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# round <signal, or "" where the program itself does it> <what stderr must say> <arguments...>
round() {
  local signal=$1 wanted=$2 pids pid begin status
  # A job that hangs is ended, and counts as failed.
  timeout -s KILL 40 "${launch[@]}" "$program" "${@:3}" >"$out" 2>&1 &
  local job=$!
  for ((i = 0; i < 200; ++i)); do
    sleep 0.1
    [[ $(grep -c '^process' "$out") == 4 ]] && break
  done
  mapfile -t pids < <(sed -n 's/^process [0-9]* //p' "$out")
  sleep "0.$((RANDOM % 9))$((RANDOM % 10))"
  begin=$SECONDS
  pid=${pids[RANDOM % 4]}
  [[ -z $signal ]] || kill "-$signal" "$pid"
  wait $job
  status=$?
  local seconds=$((SECONDS - begin)) left=""
  for ((i = 0; i < 30; ++i)); do
    left=""
    for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null && left+=" $pid"; done
    [[ -z $left ]] && break
    sleep 0.1
  done
  if [[ ${#pids[@]} != 4 || $status == 0 || $status == 4 || $seconds -ge 15 || -n $left ]] || ! grep -q "$wanted" "$out"; then
    echo "signal '$signal' $*: ${#pids[@]} ranks, status $status after $seconds s, left:$left"
    cat "$out"
    failed=1
    [[ -z $left ]] || kill -9 $left
  else
    echo "signal '${signal:-none}' ${*:3}: status $status after $seconds s, nothing left"
  fi
}

launch=("$@")
for ((n = 0; n < rounds; ++n)); do round KILL ""; done
round STOP "no answer of rank [0-3], which has died, stalls or left the call.*A is intact"
round "" "rank 1 has had enough" throw
round "" "no answer of rank 1, which has died, stalls or left the call" throw late
exit $failed
