#!/usr/bin/env bash
# Searches for inputs that break the readers of files from outside: libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer, without LibTorch; and for databases that break the store.
#
#   tests/fuzz/run.sh [--short | --long] [TARGET ...]
#
# --short (as without): 100,000 inputs for each target, 10,000 for `database`. --long: 1,000,000, and 10,000,000 for safetensors.
# Then the safetensors reader is compared with the reference one. Prints a table; exit 1 when something was found, and the input stays in
# build/fuzz/found/. On Debian 12, clang is installed when it is missing.
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 4
build="${VITRINE_FUZZ_BUILD:-$root/build/fuzz}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/vitrine"
tier=short
wanted=()
for argument in "$@"; do
  case "$argument" in
    --short) tier=short ;;
    --long) tier=long ;;
    --if-long)
      # For the test of that name: `./vitrine test --long`.
      [ -n "${VITRINE_LONG_TESTS:-}" ] || { echo "skipped: this search takes hours; ./vitrine test --long makes it"; exit 77; }
      tier=long
      ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "run.sh: there is no option $argument; use --short or --long" >&2; exit 2 ;;
    *) wanted+=("$argument") ;;
  esac
done

fail() { echo "run.sh: $*" >&2; exit 4; }

# Debian 12's plain `clang` is 14, which does not know all of C++20.
works() { command -v "$1" >/dev/null && echo 'int main(){}' | "$1" -fsanitize=fuzzer-no-link,address -x c++ - -o /dev/null 2>/dev/null; }
compiler=""
for each in "${VITRINE_CLANG:-clang++-16}" clang++-19 clang++; do
  if works "$each" && [ "$("$each" -dumpversion | cut -d. -f1)" -ge 16 ]; then compiler="$each"; break; fi
done
if [ -z "$compiler" ]; then
  . /etc/os-release 2>/dev/null
  packages=(clang-16 libclang-rt-16-dev llvm-16)
  [ "${ID:-} ${VERSION_ID:-}" = "debian 12" ] || fail "clang 16 or later with its sanitizers is missing: install it, name it in VITRINE_CLANG and call this again."
  sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "clang is missing, and installing it needs root: apt-get install ${packages[*]}"
    sudo=(sudo)
  fi
  echo "Installing ${packages[*]} (70 MB)" >&2
  { "${sudo[@]}" apt-get update -q &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}"; } >/dev/null 2>&1 ||
    fail "clang could not be installed: call apt-get install ${packages[*]} to see why."
  compiler=clang++-16
fi

mkdir -p "$build/found" || fail "$build cannot be written."
cmake -G Ninja -S "$root/tests/fuzz/libfuzzer" -B "$build/tree" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  >"$build/build.log" 2>&1 && cmake --build "$build/tree" -j "${VITRINE_JOBS:-$(nproc)}" >>"$build/build.log" 2>&1 || {
  tail -n 20 "$build/build.log" >&2
  fail "the fuzzers could not be built; see $build/build.log."
}

mapfile -t all < <(sed -n 's/.*Target{"\([a-z_]*\)".*/\1/p' "$root/tests/fuzz/targets.cpp")
all+=(database)
[ "${#wanted[@]}" -gt 0 ] || wanted=("${all[@]}")
for target in "${wanted[@]}"; do
  printf '%s\n' "${all[@]}" | grep -qx "$target" || fail "there is no target $target; there are: ${all[*]}"
done
symbolizer=$(command -v llvm-symbolizer-16 || command -v llvm-symbolizer || true)
export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=0:external_symbolizer_path=$symbolizer" UBSAN_OPTIONS=print_stacktrace=1
# The program's own messages would fill the disk; a finding's report is what matters.
status=0
printf '%-20s %12s %9s %9s %8s %10s %9s\n' target inputs findings seconds per_s coverage peak_MB
for target in "${wanted[@]}"; do
  [ "$target" = database ] && continue
  runs=100000
  if [ "$tier" = long ]; then
    runs=1000000
    [ "$target" = safetensors ] && runs=10000000
  fi
  corpus=$(mktemp -d)
  log="$build/$target.log"
  longest=$(sed -n "s/.*Target{\"$target\", [A-Za-z]*, \([0-9]*\).*/\1/p" "$root/tests/fuzz/targets.cpp")
  seeds=("$root/tests/fuzz/seeds/$target")
  [ -d "$root/tests/fuzz/found/$target" ] && seeds+=("$root/tests/fuzz/found/$target")
  started=$(date +%s.%N)
  # The fuzzer may continue over a finding only by starting again: the first one ends the search.
  "$build/tree/bin/fuzz_$target" -runs="$runs" -seed=1 -max_len="$longest" -timeout=10 -rss_limit_mb=512 -print_final_stats=1 \
    -artifact_prefix="$build/found/$target-" "$corpus" "${seeds[@]}" >"$log" 2>&1
  code=$?
  seconds=$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN {printf "%.1f", b - a}')
  rm -rf "$corpus"
  done_runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d' ' -f2)
  findings=0
  if [ "$code" -ne 0 ]; then
    findings=1
    status=1
  fi
  rate=$(awk -v n="${done_runs:-0}" -v s="$seconds" 'BEGIN {printf "%.0f", (s > 0) ? n / s : 0}')
  printf '%-20s %12s %9s %9s %8s %10s %9s\n' "$target" "${done_runs:-0}" "$findings" "$seconds" "$rate" "${coverage:-?}" "${peak:-?}"
  if [ "$code" -ne 0 ]; then
    grep -E -m 3 'ERROR: |SUMMARY: |runtime error|what\(\)|Test unit written' "$log" | sed 's/^/    /'
    echo "    the whole report: $log"
  elif [ "${done_runs:-0}" -lt "$runs" ]; then
    echo "    stopped early; see $log"
    status=1
  fi
done

case " ${wanted[*]} " in
  *" database "*)
    runs=10000
    [ "$tier" = long ] && runs=1000000
    if [ -x "$build/tree/bin/database_search" ]; then
      log="$build/database.log"
      rm -f "$build"/database-report.*
      started=$(date +%s.%N)
      ASAN_OPTIONS="$ASAN_OPTIONS:quarantine_size_mb=8:max_malloc_fill_size=0:hard_rss_limit_mb=2048:log_path=$build/database-report" \
        UBSAN_OPTIONS="$UBSAN_OPTIONS:log_path=$build/database-report" \
        "$build/tree/bin/database_search" "$runs" 0 "$build/found" >"$log" 2>&1
      code=$?
      seconds=$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN {printf "%.1f", b - a}')
      awk -v s="$seconds" '/^inputs/ {printf "%-20s %12s %9s %9s %8.0f %10s %9s\n", "database", $2, $8, s, $2 / s, "-", $10}' "$log"
      if [ "$code" -ne 0 ]; then
        status=1
        grep -m 5 '^finding' "$log" | cut -c1-300 | sed 's/^/    /'
        grep -h -m 3 -E 'ERROR: |SUMMARY: |runtime error' "$build"/database-report.* 2>/dev/null | sed 's/^/    /'
        echo "    the whole report: $log"
      fi
    else
      echo "database: left out, Qt 6 Core and SQLite are not there to build it with"
    fi
    ;;
esac

case " ${wanted[*]} " in
  *" safetensors "*)
    oracle="$cache/fuzz-oracle"
    if [ -z "${VITRINE_ORACLE_PYTHON:-}" ] && [ ! -f "$oracle/.complete" ]; then
      { python3 -m venv --clear "$oracle" && "$oracle/bin/python" -m pip install --progress-bar off safetensors==0.6.2 &&
        touch "$oracle/.complete"; } >"$build/oracle.log" 2>&1 || echo "the reference reader could not be installed; see $build/oracle.log"
    fi
    count=20000
    [ "$tier" = long ] && count=200000
    python3 "$root/tests/fuzz/safetensors_oracle.py" "$build/tree/bin/safetensors_verdicts" "$count"
    code=$?
    # 77: no reference reader here, which was said; that is not a finding.
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || status=1
    ;;
esac
exit "$status"
