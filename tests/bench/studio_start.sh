#!/usr/bin/env bash
# Builds Studio and times its start; needs Xvfb, no display.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/vitrine" build
exec python3 "$root/tests/bench/bench_studio_start.py" --build "$root/build/release" "$@"
