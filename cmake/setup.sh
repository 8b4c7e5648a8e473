# Sourced by tests/run and perf/run: installs what is missing, configures and builds.
# Kokkos is found as CMake finds it, so CMAKE_PREFIX_PATH and Kokkos_ROOT name a better one.

say() { printf '\n== %s\n' "$*"; }

# build/<preset>, by the backend asked for; "system" is whatever the found Kokkos does best.
preset=${KERAMOS_BACKEND:-system}
for argument in "$@"; do
  case $argument in -DKERAMOS_BACKEND=?*) preset=${argument#*=} ;; esac
done
build=build/$preset

kokkos_is_named() {
  [[ -n ${CMAKE_PREFIX_PATH:-}${Kokkos_ROOT:-}${Kokkos_DIR:-} || $* == *-DCMAKE_PREFIX_PATH=* ||
     $* == *-DKokkos_* || $* == *-DKERAMOS_FETCH_KOKKOS=ON* ]]
}

is_installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == *'ok installed' ]]; }

# install_packages <package...> -- <arguments for cmake>: Debian's and Ubuntu's packages, with
# Kokkos. Elsewhere the same things must be there already.
install_packages() {
  local packages=(g++ cmake ninja-build libgtest-dev libbenchmark-dev libcli11-dev
                  nlohmann-json3-dev libfmt-dev)
  while [[ $1 != -- ]]; do packages+=("$1"); shift; done
  local missing=() package as_root=()
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here; needed are the likes of: ${packages[*]}, and Kokkos"
    return
  fi
  [[ $(id -u) == 0 ]] || as_root=(sudo)
  local can_install=false
  if [[ $(id -u) == 0 ]] || command -v sudo >/dev/null; then can_install=true; fi

  local kokkos=no
  if kokkos_is_named "$@" || is_installed libkokkos-dev; then
    kokkos=yes
  elif is_installed libtrilinos-kokkos-dev; then
    kokkos=yes
    packages+=(libtrilinos-kokkos-kernels-dev)
  fi
  for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
  [[ ${#missing[@]} == 0 && $kokkos == yes ]] && return

  if $can_install; then "${as_root[@]}" apt-get update -q || true; fi
  if [[ $kokkos == no ]]; then
    # Debian sid and Ubuntu 26.04 have Kokkos 5 with OpenMP; those before have 3.4.01, Serial only.
    if [[ -n $(apt-cache search --names-only '^libkokkos-dev$') ]]; then
      missing+=(libkokkos-dev)
    else
      missing+=(libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev)
    fi
  fi
  # apt-get installs none of them where a release lacks one.
  local known=()
  for package in "${missing[@]}"; do
    if apt-cache show "$package" >/dev/null 2>&1; then known+=("$package"); else say "this release has no package $package"; fi
  done
  [[ ${#known[@]} == 0 ]] || missing=("${known[@]}")
  say "missing packages: ${missing[*]}"
  if $can_install; then
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends "${missing[@]}" && return
  fi
  say "could not install them; going on with what is there. By hand: apt-get install ${missing[*]}"
}

configure() {
  local generator=()
  [[ -e $build/CMakeCache.txt ]] || ! command -v ninja >/dev/null || generator=(-G Ninja)
  # -U: an earlier run may have found another Kokkos than the one now named.
  cmake -S . -B "$build" -U 'Kokkos*_DIR' "${generator[@]}" -DKERAMOS_NATIVE=ON \
    ${KERAMOS_BACKEND:+-DKERAMOS_BACKEND=$KERAMOS_BACKEND} "$@"
}

# The CPUs that this process may use. nproc alone would say what OpenMP's variables say.
processors() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

build() { cmake --build "$build" --parallel "$(processors)" "$@"; }
