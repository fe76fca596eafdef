#!/usr/bin/env bash
# Builds all, then weighs a window beside runs that write for some minutes; needs Xvfb, no display.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/vitrine" build
exec nice -n 10 python3 "$root/tests/bench/bench_studio_memory.py" --build "$root/build/release" "$@"
