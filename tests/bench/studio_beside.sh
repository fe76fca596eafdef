#!/usr/bin/env bash
# Builds all, then trains with and without a window that watches; needs Xvfb, no display.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/vitrine" build
exec python3 "$root/tests/bench/bench_studio_beside.py" --build "$root/build/release" \
  --experiment "$root/experiments/vit/quick.toml" "$@"
