# Runs a command and sends it a signal once it has a handler for it and a condition holds; ends with its status.
#   bash interrupt_when.sh INT|TERM group|alone <condition, in bash> <command> ...
# group: to its children too, as schedulers and terminals do.
set -m  # a process group of its own, in which SIGINT is not ignored
signal=$1 whom=$2 condition=$3 name=$(basename "$4")
"${@:4}" &
pid=$!

# Bit n - 1 of the signals that the program catches. Before it is loaded it is still bash, which catches some.
handles() {
  local caught
  [[ $(cat /proc/$pid/comm 2>/dev/null) == "${name:0:15}" ]] || return
  caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$pid/status) && (((16#${caught: -8} >> ($(kill -l "$signal") - 1)) & 1))
}

for ((i = 0; i < 2400; ++i)); do  # two minutes at least
  [[ -n $(jobs -r) ]] || break
  if handles && eval "$condition"; then
    if [[ $whom == group ]]; then kill -s "$signal" -- -$pid; else kill -s "$signal" $pid; fi
    (sleep 120; kill -s KILL -- -$pid) 2>/dev/null >/dev/null &
    watchdog=$!
    disown $watchdog  # whose end is no news
    break
  fi
  sleep 0.05
done
[[ -v watchdog ]] || kill -s KILL -- -$pid 2>/dev/null  # the condition never held
wait $pid
status=$?
[[ ! -v watchdog ]] || kill -s KILL -- -$watchdog 2>/dev/null
exit $status
