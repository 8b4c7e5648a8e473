#!/usr/bin/env bash
# Runs the commands of docs/install.md that stand behind <!-- run -->, as they stand, in a copy of the sources:
#   commands.sh <Keramos> <folder> <backend> <cmake>
# The folder is $HOME, and c++ is $CXX. A stand-in for cmake adds what makes it quick: one type, and no optimisation. Each block of
# commands must say that it is run, or why it is not. Blocks with presets are left out where CMake has none of version 6.
set -euo pipefail
root=$1 folder=$2 backend=$3 cmake=$(command -v "$4")
presets=true least=4
if [[ $("$cmake" --version | head -1) =~ \ 3\.(2[0-4]|1) ]]; then presets=false least=3; fi
rm -rf "$folder" && mkdir -p "$folder/bin" "$folder/tests"
cp -r "$root"/{CMakeLists.txt,CMakePresets.json,LICENSE,README.md,backends,cmake,docs,src} "$folder"
cp -r "$root/tests/install" "$folder/tests"
cat >"$folder/bin/cmake" <<SHIM
#!/bin/sh
for word; do case \$word in -S | --preset) [ "\$1" = --build ] || set -- "\$@" -DKERAMOS_TYPES=f64 -DKERAMOS_BACKEND=$backend \
  -DKERAMOS_HOST_OPTIMISED=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0 ;; esac; done
exec "$cmake" "\$@"
SHIM
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "${CXX:-c++}")" >"$folder/bin/c++"
chmod +x "$folder"/bin/*

state='' inside=false script='' block='' ran=0
while IFS= read -r line; do
  if $inside; then
    if [[ $line != '```' ]]; then
      block+=$line$'\n'
      continue
    fi
    if [[ $state == run ]] && { $presets || [[ $block != *--preset* ]]; }; then
      script+=$block
      ran=$((ran + 1))
    fi
    inside=false state='' block=''
  elif [[ $line == '<!-- run -->' ]]; then state=run
  elif [[ $line == '<!-- not run: '* ]]; then state='not run'; echo "$line"
  elif [[ $line == '```sh' ]]; then
    [[ -n $state ]] || { echo "a block of commands says neither that it is run nor why not"; exit 1; }
    inside=true
  fi
done <"$root/docs/install.md"
[[ $ran -ge $least ]] || { echo "only $ran blocks of commands are run"; exit 1; }
cd "$folder"
export HOME=$folder PATH=$folder/bin:$PATH CMAKE_GENERATOR=Ninja
bash -exc "$script"
