#!/usr/bin/env bash
# The front door's promises, with everything it calls replaced by stand-ins: nothing is installed, downloaded or compiled.
set -u
source_root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
checks=0

check() { # check WHAT CONDITION...
  checks=$((checks + 1))
  local what="$1"
  shift
  if ! "$@"; then
    echo "FAILED: $what"
    sed 's/^/    /' "$work/err"
    failures=$((failures + 1))
  fi
}
says() { grep -qF "$1" "$work/err"; }
exits() { [ "$status" -eq "$1" ]; }
not() { ! "$@"; }

# A clone with nothing but the script and one source file.
clone="$work/clone"
mkdir -p "$clone"/{core,app,ui,plugins,resources,tests}
cp "$source_root/vitrine" "$clone/"
touch "$clone/CMakeLists.txt" "$clone/CMakePresets.json" "$clone/core/a.cpp"

# Stand-ins come first on the PATH.
fakes="$work/fakes"
mkdir -p "$fakes"
fake() { # fake NAME <<< BODY
  { echo '#!/bin/bash'; cat; } >"$fakes/$1"
  chmod +x "$fakes/$1"
}
libtorch="$work/torch"
mkdir -p "$libtorch/lib" "$libtorch/share/cmake/Torch"
touch "$libtorch/lib/libtorch_cpu.so"
fake dpkg-query <<'X'
shift 2
for package in "$@"; do [ "$package" = -f ] || echo "$package installed"; done
X
fake cmake <<X
echo "cmake \$*" >>"$work/calls"
[ -f "$work/cmake_fails" ] && { cat "$work/cmake_fails"; exit 1; }
mkdir -p "$clone/build/release/bin"
touch "$clone/build/release/build.ninja"
printf '#!/bin/bash\necho "program \$*"\n' >"$clone/build/release/bin/vitrine"
chmod +x "$clone/build/release/bin/vitrine"
X

run() { # run VERB... with the environment's settings; sets status, $work/out, $work/err
  (cd / && PATH="$fakes:$PATH" HOME="$work/home" XDG_CACHE_HOME="$work/cache" VITRINE_CUDA=OFF "$clone/vitrine" "$@") \
    >"$work/out" 2>"$work/err"
  status=$?
}

# No argument: usage, and nothing is set up.
run
check "no verb is bad usage" exits 2
check "no verb sets nothing up" not test -e "$clone/build"

# A LibTorch that is not there, or is another version.
Torch_DIR="$work/nowhere" run doctor
check "a wrong Torch_DIR is refused" exits 4
check "a wrong Torch_DIR is named with the remedy" says "set it to share/cmake/Torch"
fake oldpython <<'X'
echo "1.13.1 /usr/share/cmake"
X
VITRINE_PYTHON="$fakes/oldpython" run doctor
check "a wrong torch version is refused" exits 4
check "a wrong torch version is named beside the one needed" says "has torch 1.13.1, and Vitrine needs 2.11"
fake nopython <<'X'
exit 1
X
VITRINE_PYTHON="$fakes/nopython" run doctor
check "a Python without torch is refused" says "cannot import torch"

# No room, no network: one sentence, exit 4.
fake df <<'X'
printf 'Filesystem 1M-blocks Used Available Capacity Mounted on\n/dev/x 100 90 10 90%% /\n'
X
Torch_DIR="$libtorch/share/cmake/Torch" run doctor
check "a full disk is refused" exits 4
check "a full disk is named with numbers" says "only 10 MB are free"
rm "$fakes/df"
fake python3 <<'X'
folder="${@: -1}"
mkdir -p "$folder/bin"
printf '#!/bin/bash\n[ "$4" = --version ] && exit 1\n[ "$3" = --version ] && exit 0\necho "Temporary failure in name resolution"\nexit 1\n' >"$folder/bin/python"
chmod +x "$folder/bin/python"
X
run doctor
check "no network is refused" exits 4
check "no network is named with the remedy" says "check the connection"
check "what was not finished is not marked as finished" not test -e "$work/cache/vitrine/torch-2.11.0/.complete"
rm "$fakes/python3"

# A build that fails says so and does not count as done.
export Torch_DIR="$libtorch/share/cmake/Torch"
echo "error: no such file" >"$work/cmake_fails"
run doctor
check "a failed configure is refused" exits 4
rm "$work/cmake_fails"

# Interrupted or failed before, it goes on and ends in the program with its arguments.
run runs --json
check "set-up ends in the program" exits 0
check "the program gets verb and arguments" grep -qx "program runs --json" "$work/out"
check "progress is not on stdout" test "$(wc -l <"$work/out")" -eq 1

# A second call calls nothing, and works without anything it called before.
rm -f "$work/calls"
run runs
check "a second call succeeds" exits 0
check "a second call builds nothing" not test -e "$work/calls"
check "a second call says nothing" test ! -s "$work/err"

# A changed, an added and a removed source each build again.
for change in "touch $clone/core/a.cpp" "touch $clone/core/b.cpp" "rm $clone/core/b.cpp"; do
  sleep 0.02
  rm -f "$work/calls"
  $change
  run runs
  check "'$change' builds again" test -e "$work/calls"
done

# Another distribution: the packages are named, nothing is installed.
fake dpkg-query <<'X'
exit 1
X
touch "$clone/core/a.cpp"
printf 'ID=fedora\nVERSION_ID=43\n' >"$work/os-release"
VITRINE_OS_RELEASE="$work/os-release" run doctor
check "another distribution is refused" exits 4
check "another distribution is told the packages" says "this is fedora 43, not Debian 12"
check "the packages are named" says "qt6-base-dev"

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
