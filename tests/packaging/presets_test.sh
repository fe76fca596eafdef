#!/usr/bin/env bash
# The headless preset configures where no Qt Widgets is installed, and the gpu preset where neither Qt nor SQLite is.
#
#   presets_test.sh SOURCE_DIR TORCH_DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export Torch_DIR="$2"

# CMAKE_DISABLE_FIND_PACKAGE_X makes X as absent as an uninstalled package.
(cd "$1" && cmake --preset headless -B "$work/headless" -DCMAKE_DISABLE_FIND_PACKAGE_Qt6Widgets=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_Qt6Svg=ON) >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log"; echo "the headless preset does not configure without Qt Widgets"; exit 1; }
ninja -C "$work/headless" -t query vitrine >/dev/null || { echo "the headless preset has no program"; exit 1; }
if ninja -C "$work/headless" -t targets all | grep -q 'vitrine-studio'; then
  echo "the headless preset builds the window"
  exit 1
fi

# The kernels need nvcc, which is not everywhere; everything else of the preset is looked at without it.
(cd "$1" && cmake --preset gpu -B "$work/gpu" -DVITRINE_CUDA=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Qt6=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON) >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log"; echo "the gpu preset does not configure without Qt and SQLite"; exit 1; }
for target in vitrine_engine vitrine_vit_objects kernels_test bench_step; do
  ninja -C "$work/gpu" -t query "$target" >/dev/null || { echo "the gpu preset has no $target"; exit 1; }
done
echo "both presets configure"
