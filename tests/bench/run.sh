#!/usr/bin/env bash
# Builds the benchmarks, installs their peers into an environment of their own, and prints the table of ratios.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/vitrine" build
cache="${XDG_CACHE_HOME:-$HOME/.cache}/vitrine"
peers="$cache/bench-peers"
torch=$(sed -n 's/^Torch_DIR:PATH=//p' "$root/build/release/CMakeCache.txt")
if [ ! -f "$peers/.complete" ]; then
  echo "Installing the peers into $peers (about 30 MB, torch itself is shared)" >&2
  "$cache/torch-2.11.0/bin/python" -m venv --clear "$peers"
  # LibTorch's own Python package is borrowed, not downloaded again.
  echo "$(cd "$torch/../../../.." && pwd)" >"$(echo "$peers"/lib/python3.*/site-packages)/torch.pth"
  "$peers/bin/python" -m pip install -q timm==1.0.31 torchvision==0.26.0
  touch "$peers/.complete"
fi
if ! "$peers/bin/python" -c 'import mlstm_kernels, einops' 2>/dev/null; then
  "$peers/bin/python" -m pip install -q numpy==2.4.6 einops==0.8.2
  "$peers/bin/python" -m pip install -q --no-deps mlstm_kernels==2.0.6
fi
if ! "$peers/bin/python" -c 'import transformers, diffusers' 2>/dev/null; then
  "$peers/bin/python" -m pip install -q transformers==4.57.1 diffusers==0.35.2
fi
trackers="$cache/bench-trackers"
if [ ! -f "$trackers/.complete" ]; then
  echo "Installing TensorBoard, MLflow and Trackio into $trackers (about 400 MB, torch itself is shared)" >&2
  "$cache/torch-2.11.0/bin/python" -m venv --clear "$trackers"
  echo "$(cd "$torch/../../../.." && pwd)" >"$(echo "$trackers"/lib/python3.*/site-packages)/torch.pth"
  # MLflow's small package has its SQLite store, but not what that needs.
  "$trackers/bin/python" -m pip install -q tensorboard==2.21.0 mlflow-skinny==3.17.2 sqlalchemy==2.1.9 alembic==1.20.1 \
    trackio==0.43.0
  touch "$trackers/.complete"
fi
exec "$peers/bin/python" "$root/tests/bench/run.py" --programs "$root/build/release/bench" \
  --trackers "$trackers/bin/python" "$@"
