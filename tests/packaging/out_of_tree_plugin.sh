#!/usr/bin/env bash
# Installs this build into a temporary folder, builds a third party's plugin against it, trusts it and trains with it.
#
#   out_of_tree_plugin.sh BUILD_FOLDER SOURCE_FOLDER TORCH_DIR
set -eu
build=$1
source=$2
export Torch_DIR=$3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log" 2>&1 || { tail -n 20 "$folder/install.log"; fail "install"; }
cmake -G Ninja -S "$source/tests/packaging/out_of_tree_plugin" -B "$folder/plugin" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$folder/prefix" >"$folder/configure.log" 2>&1 || { tail -n 20 "$folder/configure.log"; fail "configure"; }
grep -qi "warning" "$folder/configure.log" && { cat "$folder/configure.log"; fail "configuring warns"; }
cmake --build "$folder/plugin" >"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log"; fail "build"; }

# Nothing of the user's, and nothing of the build tree's.
export XDG_DATA_HOME="$folder/data" XDG_CACHE_HOME="$folder/cache"
unset VITRINE_DB VITRINE_PROGRAM VITRINE_PLUGIN_PATH LD_LIBRARY_PATH 2>/dev/null || true

# The installed tree is whole and knows nothing of the tree that it was built in.
for file in bin/vitrine share/vitrine/experiments/vit/quick.toml share/doc/Vitrine/command_line.md; do
  [ -e "$folder/prefix/$file" ] || fail "$file is not installed"
done
for built in "$build"/bin/vitrine* "$build"/lib/*.so* "$build"/lib/vitrine/*.so "$build"/lib/vitrine/plugins/*.so; do
  if [ -L "$built" ] || [ ! -x "$built" ]; then continue; fi
  find "$folder/prefix" -name "$(basename "$built")" | grep -q . || fail "$(basename "$built") is built and not installed"
done
while IFS= read -r binary; do
  if readelf -d "$binary" | grep -E 'R(UN)?PATH' | grep -qF "$build"; then fail "$binary looks for libraries in the build tree"; fi
done < <(find "$folder/prefix" -type f \( -name '*.so' -o -path '*/bin/*' \))
"$folder/prefix/bin/vitrine" plugins --json >"$folder/plugins.json" || fail "vitrine plugins"
if grep -qF "$build" "$folder/plugins.json"; then cat "$folder/plugins.json"; fail "the installed program loads plugins of the build tree"; fi
"$folder/prefix/bin/vitrine" describe --json >"$folder/describe.json" || fail "vitrine describe"
for item in vit illama classification fashion_mnist attention_rank calibration; do
  grep -q "\"id\": \"$item\"" "$folder/describe.json" || fail "the installed program has no $item"
done
if [ -x "$folder/prefix/bin/vitrine-studio" ]; then
  "$folder/prefix/bin/vitrine" runs --db "$folder/empty.sqlite" >/dev/null || fail "vitrine runs"
  QT_QPA_PLATFORM=offscreen "$folder/prefix/bin/vitrine-studio" --db "$folder/empty.sqlite" --page configure \
    --screenshot "$folder/page.png" >"$folder/studio.log" 2>&1 || { cat "$folder/studio.log"; fail "the installed Studio draws no page"; }
  [ "$(head -c 8 "$folder/page.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "the installed Studio's page is no PNG"
fi

export VITRINE_PLUGIN_PATH="$folder/plugin"
vitrine="$folder/prefix/bin/vitrine"

"$vitrine" plugins >"$folder/before.txt"
grep -q "plain_mlp.so is not trusted" "$folder/before.txt" || { cat "$folder/before.txt"; fail "an unknown plugin was not refused"; }
"$vitrine" plugins --trust "$folder/plugin/plain_mlp.so" >"$folder/after.txt"
grep -q "architecture plain_mlp" "$folder/after.txt" || { cat "$folder/after.txt"; fail "the trusted plugin was not loaded"; }
grep -q "$folder/prefix/" "$folder/after.txt" || { cat "$folder/after.txt"; fail "the installed plugins were not loaded"; }

# IDX files of 64 and 32 images of 8 x 8 pixels.
mkdir "$folder/images"
idx() { # NAME COUNT
  { printf '\000\000\010\003\000\000\000'; printf "\\$(printf '%03o' "$2")"; printf '\000\000\000\010\000\000\000\010'; head -c $(($2 * 64)) /dev/urandom; } >"$folder/images/$1-images-idx3-ubyte"
  { printf '\000\000\010\001\000\000\000'; printf "\\$(printf '%03o' "$2")"; for ((i = 0; i < $2; ++i)); do printf "\\$(printf '%03o' $((i % 10)))"; done; } >"$folder/images/$1-labels-idx1-ubyte"
}
idx train 64
idx t10k 32
cat >"$folder/mlp.toml" <<TOML
title = "Out of tree"
[model]
architecture = "plain_mlp"
image_size = 8
[task]
name = "classification"
[data]
dataset = "fashion_mnist"
folder = "$folder/images"
[train]
steps = 20
batch_size = 16
TOML
"$vitrine" train "$folder/mlp.toml" --json >"$folder/result.json" 2>"$folder/train.log" || { tail -n 20 "$folder/train.log"; fail "training"; }
grep -q '"state": "done"' "$folder/result.json" && grep -q '"step": 20' "$folder/result.json" || { cat "$folder/result.json"; fail "the run is not done at step 20"; }
"$vitrine" show 1 --json | grep -q '"id": "plain_mlp"' || fail "the run does not record the plugin it used"
echo "an installed Vitrine built, trusted and trained a plugin from outside"
