#!/usr/bin/env bash
# Draws the pictures of the documents into resources/docs/images: every page of Studio over runs that are trained for it.
#
#   resources/docs/make_images.sh [FOLDER]    # keeps the databases in FOLDER; about 5 minutes on 2 cores the first time
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mkdir -p "${1:-/tmp/vitrine-images}" && cd "${1:-/tmp/vitrine-images}" && pwd)
build=${VITRINE_BUILD:-$root/build/release}
images=$root/resources/docs/images
mkdir -p "$images"
export XDG_CONFIG_HOME=$folder/config QT_QPA_PLATFORM=offscreen

demo=$folder/demo.sqlite
ablation=$folder/ablation.sqlite
"$build/bin/vitrine" demo --no-window --db "$demo" >/dev/null
# Seven variants, three seeds each: what is finished is not trained again.
"$build/bin/vitrine" enqueue "$root/experiments/illama/roadmap.toml" --needed --db "$ablation" >/dev/null
"$build/bin/vitrine" work --drain --db "$ablation" >/dev/null

# draw NAME DATABASE PAGE [OPTIONS]: the whole window with that page in front
draw() {
  local name=$1 database=$2 page=$3
  shift 3
  "$build/bin/vitrine-studio" --db "$database" --page "$page" --window --size 1440x900 --wait-ms 2000 \
    --screenshot "$images/$name.png" "$@"
  echo "$images/$name.png"
}
draw start "$demo" start
draw configure "$demo" configure --run 2
draw queue "$demo" queue
draw monitor "$demo" monitor --run 1,2
draw artifacts "$demo" artifacts --run 1,2
draw compare "$ablation" compare --run 1 --theme light
draw sql "$ablation" sql
draw plugins "$demo" plugins

# What other tools do not show: differences paired by seed, the paper's numbers beside ours, two architectures block by
# block, what changes before it starts.
draw first_paired "$ablation" compare --run 1
draw first_published "$ablation" compare --run 1 --view '{"view": "published"}'
draw first_architectures "$demo" plugins --view '{"show": "diff", "a": "preset:vit/demo", "b": "preset:illama/demo"}'

# Few colours are enough for a window: a third of the bytes, where ImageMagick is installed.
if command -v convert >/dev/null; then
  for picture in "$images"/*.png; do
    convert "$picture" +dither -colors 200 -strip -define png:compression-level=9 "$picture"
  done
fi
