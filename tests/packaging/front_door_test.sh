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
# A clock that only the other stand-ins move: milliseconds.
echo 1000000 >"$work/clock"
fake date <<X
[ "\$1" = +%s%3N ] || exec /bin/date "\$@"
cat "$work/clock"
echo >>"$work/looks"
X
touch "$work/looks"
fake pass <<X
echo \$((\$(cat "$work/clock") + \$1)) >"$work/clock"
X
# A line of ninja's; returns when the script has looked at the clock for it, at the latest after ten seconds.
fake step <<X
looks=\$(wc -l <"$work/looks")
echo "[\$1] Building CXX object a.o"
for ((i = 0; i < 1000 && \$(wc -l <"$work/looks") == looks; i++)); do sleep 0.01; done
X
fake nproc <<'X'
echo 2
X
fake g++ <<'X'
pass 9000
X
fake ninja <<'X'
[ "$3 $4" = "-t commands" ] && seq 200
X
fake cmake <<X
echo "cmake \$*" >>"$work/calls"
[ -f "$work/cmake_fails" ] && { cat "$work/cmake_fails"; exit 1; }
[ "\$1" = --build ] && [ -f "$work/build_steps" ] && . "$work/build_steps"
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
check "a folder of the clone is nowhere else with another cache" not says "XDG_CACHE_HOME"
run doctor
check "a full disk of the cache is named" says "LibTorch needs 8000 MB"
check "and may be another one" says "or set XDG_CACHE_HOME to a larger disk"
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

# Interrupted or failed before, it continues and ends in the program with its arguments.
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

# A build says what it will need before it begins and while it lasts: the file took 9 s, so a step of two jobs 3.6 s.
clean() {
  rm -rf "$clone/build"
  touch "$clone/core/a.cpp"
}
clean
cat >"$work/build_steps" <<'X'
for n in 1 2 20; do pass 3600; step $n/200; done
pass 59000; step 21/200
pass 60000; step 150/200
X
VITRINE_JOBS=2 run runs
check "cores and jobs are named" says "building on 2 cores, jobs: 2"
check "the first file is timed and a build estimated from it" says "one file took 9.0 s here: the 200 steps take about 15 minutes"
check "the first step is estimated from that file" says "1 of 200 steps done, about 15 minutes left"
check "steps that follow soon are not said" not says "2 of 200"
check "nothing is said within a minute" not says "20 of 200"
check "a line is said after a minute" says "21 of 200 steps done, about 12 minutes left"
check "measured steps outweigh the file" says "150 of 200 steps done, about a minute left"
check "estimates are not on stdout" test "$(wc -l <"$work/out")" -eq 1
check "the log keeps every step" grep -qF "[20/200] Building CXX object a.o" "$clone/build/setup.log"

# Where ccache has everything the estimate falls quickly.
clean
cat >"$work/build_steps" <<'X'
for n in 1 50 100; do pass 500; step $n/200; done
pass 59000; step 190/200
X
VITRINE_JOBS=2 run runs
check "a build from the cache ends soon" says "190 of 200 steps done, less than a minute left"

# A later build, and one whose compiler fails on that file, count the steps alone.
touch "$clone/core/a.cpp"
cat >"$work/build_steps" <<'X'
pass 1000; step 1/40
pass 60000; step 10/40
X
VITRINE_JOBS=2 run runs
check "a later build times no file" not says "one file took"
check "a later build waits for its first steps" says "1 of 40 steps done, working"
check "a later build is estimated from its own steps" says "10 of 40 steps done, about 3 minutes left"
fake g++ <<'X'
exit 1
X
clean
VITRINE_JOBS=2 run runs
check "a file that cannot be timed is not a failure" exits 0
check "and nothing is promised" not says "one file took"

# On a terminal the estimate is one line that renews itself.
if command -v script >/dev/null; then
  clean
  (cd / && PATH="$fakes:$PATH" HOME="$work/home" XDG_CACHE_HOME="$work/cache" VITRINE_CUDA=OFF VITRINE_JOBS=2 \
    script -qec "$clone/vitrine runs" /dev/null </dev/null) >"$work/err" 2>&1
  check "a terminal has one line" says $'\r\033[K  about 3 minutes left: [10/40] Building CXX object a.o'
fi

# A build that fails says so, and what the compiler said.
clean
cat >"$work/build_steps" <<'X'
echo "[1/40] Building CXX object a.o"
echo "a.cpp:1:1: error: it does not compile"
exit 1
X
run runs
check "a failed build is refused" exits 4
check "a failed build shows the error" says "a.cpp:1:1: error: it does not compile"
rm "$work/build_steps"

# The demo waits for what it needs; the window and the other plugins are built after its training, then show it.
clean
rm -f "$work/calls"
run demo --again
check "the demo succeeds" exits 0
check "it trains" says "program demo --again"
check "and shows what it trained without training again" test "$(cat "$work/out")" = "program demo"
check "the demo runs once its parts are built" test "$(grep -c -- '--target demo_parts' "$work/calls")" -eq 1
check "the rest is built after it" test "$(grep -- --target "$work/calls" | tail -n 1 | grep -c product)" -eq 1
check "and is announced" says "Now the window and the other plugins are built"
rm -f "$work/calls"
run runs
check "then everything is there" not test -e "$work/calls"
run demo
check "a second demo builds nothing" not test -e "$work/calls"
clean
rm -f "$work/calls"
run demo --tour
check "the tour begins with every plugin built" test "$(grep -c -- '--target demo_parts' "$work/calls")" -eq 0
check "and is handed on" grep -qF "program demo --tour" "$work/out"
for words in "--file mine.toml" "--help"; do
  clean
  rm -f "$work/calls"
  run demo $words
  check "demo $words begins with every plugin built" test "$(grep -c -- '--target demo_parts' "$work/calls")" -eq 0
  check "demo $words is handed on once" test "$(cat "$work/out")" = "program demo $words"
  check "demo $words says nothing about models that were trained" not says "Both models are trained"
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
