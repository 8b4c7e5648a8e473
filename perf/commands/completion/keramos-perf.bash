# bash completion of keramos-perf, which says itself what may follow.
_keramos_perf() {
  local current=${COMP_WORDS[COMP_CWORD]} IFS=$'\n'
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null | cut -f 1)" -- "$current"))
  [[ ${#COMPREPLY[@]} != 0 ]] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _keramos_perf keramos-perf
