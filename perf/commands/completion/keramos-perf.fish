# fish completion of keramos-perf, which says itself what may follow.
complete -c keramos-perf -a '(set -l words (commandline -opc); $words[1] complete $words[2..-1] 2>/dev/null)'
