#!/usr/bin/env bash
# Installs this build into a temporary folder and builds plugins of third parties against it: the classifier and the generative model of
# resources/docs/plugin_author.md, from the page itself, and a task with several networks. Trusts them, trains with them, samples.
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
awk -v out="$folder/page" -f "$source/tests/packaging/files_of_page.awk" "$source/resources/docs/plugin_author.md"
# The same files are compiled at each call: in a new folder, under the same relative names.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$folder" CCACHE_NOHASHDIR=1
fi
plugin() { # plugin NAME SOURCE_FOLDER: builds it into $folder/plugin
  cmake -G Ninja -S "$2" -B "$folder/build-$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
    -DCMAKE_PREFIX_PATH="$folder/prefix" \
    >"$folder/configure.log" 2>&1 || { tail -n 20 "$folder/configure.log"; fail "configure $1"; }
  grep -qi "warning" "$folder/configure.log" && { cat "$folder/configure.log"; fail "configuring $1 warns"; }
  cmake --build "$folder/build-$1" >"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log"; fail "build $1"; }
  mkdir -p "$folder/plugin"
  cp "$folder/build-$1/$1.so" "$folder/plugin/"
}
plugin plain_mlp "$folder/page/plain_mlp"
plugin brush "$folder/page/brush"
plugin outside "$source/tests/packaging/out_of_tree_plugin"

# Nothing of the user's, and nothing of the build tree's.
export XDG_DATA_HOME="$folder/data" XDG_CACHE_HOME="$folder/cache"
unset VITRINE_DB VITRINE_PROGRAM VITRINE_PLUGIN_PATH LD_LIBRARY_PATH 2>/dev/null || true

# The installed tree is whole and knows nothing of the tree that it was built in.
for file in bin/vitrine share/vitrine/experiments/vit/quick.toml share/vitrine/python/vitrine.py share/doc/Vitrine/command_line.md; do
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
  [ "$(head -c 8 "$folder/page.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "the installed Studio's page is not a PNG"
fi

export VITRINE_PLUGIN_PATH="$folder/plugin"
vitrine="$folder/prefix/bin/vitrine"

"$vitrine" plugins >"$folder/before.txt"
grep -q "plain_mlp.so is not trusted" "$folder/before.txt" || { cat "$folder/before.txt"; fail "an unknown plugin was not refused"; }
for name in plain_mlp brush outside; do
  "$vitrine" plugins --trust "$folder/plugin/$name.so" >"$folder/after.txt"
done
for item in "architecture *plain_mlp" "task *brush" "sampler *brush" "analysis *error_over_time" "task *paired"; do
  grep -q "$item" "$folder/after.txt" || { cat "$folder/after.txt"; fail "the trusted plugins bring no $item"; }
done
"$vitrine" plugins --json | grep -q "$folder/prefix/" || { cat "$folder/after.txt"; fail "the installed plugins were not loaded"; }

# IDX files of 64 and 32 images of 8 x 8 pixels.
mkdir "$folder/images"
idx() { # NAME COUNT
  { printf '\000\000\010\003\000\000\000'; printf "\\$(printf '%03o' "$2")"; printf '\000\000\000\010\000\000\000\010'; head -c $(($2 * 64)) /dev/urandom; } >"$folder/images/$1-images-idx3-ubyte"
  { printf '\000\000\010\001\000\000\000'; printf "\\$(printf '%03o' "$2")"; for ((i = 0; i < $2; ++i)); do printf "\\$(printf '%03o' $((i % 10)))"; done; } >"$folder/images/$1-labels-idx1-ubyte"
}
idx train 64
idx t10k 32
train() { # train FILE RUN
  "$vitrine" train "$1" --json >"$folder/result.json" 2>"$folder/train.log" || { tail -n 20 "$folder/train.log"; fail "training $1"; }
  grep -q '"state": "done"' "$folder/result.json" || { cat "$folder/result.json"; fail "run $2 of $1 is not done"; }
}
ask() { "$vitrine" query "$1" --csv | tail -n 1 | tr -d '\r'; } # ask SQL: the last row
for toml in "$folder"/page/*/*.toml; do sed -i "s|IMAGES|$folder/images|" "$toml"; done
train "$folder/page/plain_mlp/mlp.toml" 1
grep -q '"step": 20' "$folder/result.json" || { cat "$folder/result.json"; fail "the run is not done at step 20"; }
"$vitrine" show 1 --json | grep -q '"id": "plain_mlp"' || fail "the run does not record the plugin it used"

# What the page says of its generative model: a curve, samples, an analysis.
train "$folder/page/brush/brush.toml" 2
losses=$(ask "SELECT count(*) FROM metrics WHERE run_id = 2 AND name = 'train/loss'")
[ "$losses" -eq 60 ] || fail "the generative run has $losses losses instead of 60"
curves=$(ask "SELECT count(*) FROM artifacts WHERE run_id = 2 AND analysis = 'error_over_time'")
[ "$curves" -eq 4 ] || fail "the generative run was looked into $curves times instead of 4"
for turn in 1 2; do
  "$vitrine" sample 2 count=4 seed=1 steps=10 --output "$folder/made$turn" --json >"$folder/made$turn.json" || fail "sampling"
done
[ "$(ls "$folder/made1" | wc -l)" -eq 4 ] || fail "four images were to be made"
images=$(ask "SELECT count(*), count(DISTINCT sha256), count(DISTINCT recipe) FROM generated_images WHERE run_id = 2")
[ "$images" = 8,4,4 ] || fail "equal recipes must give equal images: $images instead of 8,4,4"
"$vitrine" analyse 2 error_over_time images=8 --json | grep -q '"kind": "curve"' || fail "the analysis of the page"

# A task with two trained networks, an average and a frozen model of another run.
cat >"$folder/paired.toml" <<TOML
title = "Words"
[model]
architecture = "paired"
[task]
name = "paired"
[data]
dataset = "paired"
normalize = "half"
[train]
steps = 16
batch_size = 8
TOML
train "$folder/paired.toml" 3
uuid=$(ask "SELECT uuid FROM runs WHERE id = 3")
{ sed 's/name = "paired"/name = "paired"\nteach = true/' "$folder/paired.toml"; printf '[aux.teacher]\nrun = "%s"\n' "$uuid"; } >"$folder/taught.toml"
train "$folder/taught.toml" 4
parts=$(ask "SELECT count(*) FROM metrics WHERE run_id = 4 AND name = 'train/loss/teacher'")
[ "$parts" -eq 16 ] || fail "the taught run has $parts losses of its teacher instead of 16"
"$vitrine" sample 4 class=2 count=2 --output "$folder/words" >/dev/null || fail "sampling with words"
"$vitrine" train "$folder/page/plain_mlp/mlp.toml" 'train.optimizer={ name = "signed_steps", momentum = 0.5, learning_rate = 0.01 }' --json >"$folder/signed.json" \
  2>"$folder/signed.log" || { tail -n 20 "$folder/signed.log"; fail "training with the plugin's optimizer"; }
grep -q '"state": "done"' "$folder/signed.json" || { cat "$folder/signed.json"; fail "the run with the plugin's optimizer is not done"; }
"$vitrine" check "$folder/page/plain_mlp/mlp.toml" train.optimizer.name=signed_steps train.optimizer.beta1=0.5 >"$folder/check.txt" 2>&1 && fail "a key of another optimizer was taken"
grep -q "train.optimizer.beta1: is a key of optimizer adamw, lamb" "$folder/check.txt" || { cat "$folder/check.txt"; fail "the key's owner is not named"; }
echo "an installed Vitrine built, trusted and trained three plugins from outside"
