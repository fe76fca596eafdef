#!/usr/bin/env bash
# Draws the pictures of the documents into resources/docs/images: every page of Studio over runs that are trained for it.
#
#   resources/docs/make_images.sh [FOLDER]    # keeps the databases in FOLDER; about 20 minutes on 2 cores the first time
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

# All five papers: one page of figures.
tour=$folder/tour.sqlite
"$build/bin/vitrine" demo --tour --no-window --db "$tour" >/dev/null
cp "$folder/tour.files/tour/tour.png" "$images/tour.png"

# What has to be clicked: windows on a display of their own, where Xvfb, xdotool and ImageMagick are.
# open_window WIDTH HEIGHT DATABASE [OPTIONS]: $window is its number
open_window() {
  local width=$1 height=$2 database=$3 display
  shift 3
  coproc xvfb { exec Xvfb -displayfd 1 -screen 0 "${width}x${height}x24" -nolisten tcp 2>/dev/null; }
  read -r display <&"${xvfb[0]}"
  export DISPLAY=:$display
  QT_QPA_PLATFORM=xcb XDG_CONFIG_HOME=$folder/config-window "$build/bin/vitrine-studio" --db "$database" "$@" 2>/dev/null &
  studio=$!
  for _ in $(seq 60); do
    window=$(xdotool search --onlyvisible --pid $studio 2>/dev/null | head -1)
    [ -n "$window" ] && break
    sleep 0.5
  done
  xdotool windowmove "$window" 0 0 windowsize "$window" "$width" "$height"
  sleep 3
  xdotool windowfocus "$window"
}
close_window() {
  kill $studio "$xvfb_PID"
  wait $studio "$xvfb_PID" 2>/dev/null || true
  unset DISPLAY
}
has_display=false
if command -v Xvfb >/dev/null && command -v xdotool >/dev/null && command -v convert >/dev/null; then has_display=true; fi

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
draw monitor "$demo" monitor --run 1,2
draw artifacts "$demo" artifacts --run 1,2
"$build/bin/vitrine" analyse 1 attention_map query=all --db "$demo" >/dev/null
"$build/bin/vitrine" analyse 2 attention_map query=all --db "$demo" >/dev/null
draw attention "$demo" attention --run 1 --view '{"layer": 1, "head": 2, "query": "patch", "place": [0.6, 0.4]}'
draw first_lockstep "$demo" attention --run 1,2 --view '{"layer": 1, "head": 2, "query": "patch", "place": [0.6, 0.4]}'
draw compare "$ablation" compare --run 1 --theme light
draw spectra "$demo" spectra --run 1,2
draw calibration "$demo" calibration --run 1,2 --theme light --view '{"bin": 7, "bins": 10}' --wait-ms 15000
draw sql "$ablation" sql --view '{"show": "table", "statement": "SELECT r.variant, count(*) AS runs, avg(s.last) AS accuracy, min(s.last) AS lowest, max(s.last) AS highest\nFROM runs r JOIN metric_summaries s ON s.run_id = r.id\nWHERE s.name = \u0027test/top1\u0027\nGROUP BY r.variant ORDER BY accuracy DESC"}'
# A grid of classes and guidance by the tour's run that draws, which is drawn for the picture.
painter=$("$build/bin/vitrine" runs --db "$tour" --json | python3 -c '
import json, sys
runs = json.load(sys.stdin)
print(max(run["id"] for run in runs if run["experiment"].startswith("Tour: SiT")))')
draw playground "$tour" playground --run "$painter" --view "{\"settings\": {\"run\": $painter, \"checkpoint\": \"2000\",
  \"weights\": \"ema\", \"sampler\": \"ode\", \"values\": {\"seed\": 7, \"steps\": 20, \"count\": 1, \"previews\": 10}},
  \"rows\": {\"key\": \"class\", \"values\": [0, 3, 1, 7, 8]},
  \"columns\": {\"key\": \"guidance\", \"values\": [1.0, 1.5, 2.0, 3.0, 4.0, 5.5, 7.5]}, \"drawn\": true}"

# What a prompt says, by the tour's model of texts and images.
writer=$("$build/bin/vitrine" runs --db "$tour" --json | python3 -c '
import json, sys
print(next(run["id"] for run in json.load(sys.stdin) if run["name"] == "images"))')
draw playground_prompt "$tour" playground --run "$writer" --wait-ms 20000 --view "{\"settings\": {\"run\": $writer,
  \"weights\": \"ema\", \"sampler\": \"text_image\",
  \"values\": {\"prompt\": \"a photo of a bag\", \"seed\": 0, \"guidance\": 4, \"count\": 8, \"previews\": 10}}, \"drawn\": true}"

draw gallery "$tour" gallery --run "$painter"

# run_of DATABASE VARIANT: its run with the first seed
run_of() {
  "$build/bin/vitrine" runs --db "$1" --json | python3 -c '
import json, sys
print(next(run["id"] for run in json.load(sys.stdin) if run["name"] == sys.argv[1] + ", seed 0"))' "$2"
}
# The rank of causal attention with its controls, a column of the waterfall every 5 steps.
ranks=$folder/ranks.sqlite
"$build/bin/vitrine" enqueue "$root/experiments/illama/rank.toml" observe.attention_rank.every_steps=5 --needed --db "$ranks" >/dev/null
"$build/bin/vitrine" work --drain --db "$ranks" >/dev/null
draw first_waterfall "$ranks" spectra \
  --run "$(run_of "$ranks" bidirectional),$(run_of "$ranks" "RoPE, bidirectional"),$(run_of "$ranks" causal)"
draw first_reliability "$tour" calibration --run "$(run_of "$tour" Vision-LSTM),$(run_of "$tour" VisionLLaMA)" \
  --view '{"bins": 10, "bin": 8, "only_errors": true}' --wait-ms 15000

# Runs while they train, in databases of their own.
# fresh NAME EXPERIMENT [SETTINGS]: an empty database with the runs of that experiment in its queue; $fresh is its file
fresh() {
  fresh=$folder/$1.sqlite
  rm -rf "$fresh" "$folder/$1.files"
  "$build/bin/vitrine" enqueue "$root/experiments/$2" "${@:3}" --db "$fresh" >/dev/null
}
# step_of DATABASE RUN: the step that it trains
step_of() { "$build/bin/vitrine" query --db "$1" --csv "SELECT step FROM run WHERE id = $2" | tr -d '\r' | tail -1; }
# watch NAME DATABASE RUN VIEW: the Live page while that run trains; SOON in VIEW is a step that it trains before the picture
watch() {
  local training before now
  "$build/bin/vitrine" run --id "$3" --db "$2" >/dev/null 2>&1 &
  training=$!
  sleep 19
  before=$(step_of "$2" "$3")
  sleep 6
  now=$(step_of "$2" "$3")
  draw "$1" "$2" live --run "$3" --view "${4/SOON/$((2 * now - before))}" --wait-ms 20000
  kill "$training"
  wait "$training" || true
}
# One trains, the others wait.
fresh queued illama/roadmap.toml
"$build/bin/vitrine" work --db "$fresh" >/dev/null 2>&1 &
worker=$!
sleep 25
draw queue "$fresh" queue
kill "$worker"
wait "$worker" || true
fresh watched demo.toml train.epochs=20
watch live "$fresh" 2 '{"query": "patch", "row": 0.6, "column": 0.4, "layer": 1}'
watch first_patch "$fresh" 1 '{"query": "patch", "row": 0.3, "column": 0.5, "layer": 1, "head": 2}'
# The mask closes over 4,000 of 6,000 steps: the picture goes back to one that it has seen.
fresh schedule illama/quick.toml train.epochs=60 model.mask.epochs=40
watch first_schedule "$fresh" 1 '{"query": "patch", "row": 0.6, "column": 0.4, "layer": 1, "scrubbed": SOON}'

# What other tools do not show: differences paired by seed, the paper's numbers beside ours, two architectures block by
# block, what changes before it starts and what it will cost, a file that opens its chart again, a training that waits.
draw first_paired "$ablation" compare --run 1
draw first_published "$ablation" compare --run 1 --view '{"view": "published"}'
draw first_architectures "$demo" plugins --view '{"show": "diff", "a": "preset:vit/demo", "b": "preset:illama/demo"}'
draw first_before_launch "$demo" configure --run 2 --theme light --wait-ms 6000 \
  --view '{"side": {"against": "nearest", "open": {"changes": true, "runs": true, "toml": false}}}'

# An exported PDF, and the window after File, Open or import has been given it, which does what a drop does.
reopen() {
  local pdf=$folder/loss.pdf recipe=$folder/loss.json uuids
  uuids=$("$build/bin/vitrine" query --db "$demo" --csv "SELECT uuid FROM runs WHERE id IN (1, 2) ORDER BY id" |
    tr -d '\r' | sed '1d; s/.*/"&"/' | paste -sd,)
  printf '{"version": 1, "page": "monitor", "runs": [%s], "view": %s, "paper": {"width_mm": 120, "ratio": 0.7, "dpi": 110}}' \
    "$uuids" '{"card": "train/loss", "follow": false, "smoothing": {"kind": "ema", "amount": 0.95},
      "ranges": {"train/loss": {"x": [200, 1400], "y": [0.1, 0.9]}}}' >"$recipe"
  "$build/bin/vitrine-studio" --db "$demo" --figure "$recipe" --out "$pdf"
  "$build/bin/vitrine-studio" --db "$demo" --figure "$pdf" --out "$folder/loss.png"
  open_window 1120 800 "$demo" --page monitor
  xdotool key ctrl+shift+o
  sleep 3
  xdotool type --delay 5 "$pdf"
  xdotool key Return
  sleep 5
  import -window root "$folder/window.png"
  close_window
  convert -background '#c9ced6' \( "$folder/loss.png" -bordercolor '#9aa3ae' -border 1 -bordercolor '#c9ced6' -border 16 \) \
    "$folder/window.png" -gravity center +append "$images/first_recipe.png"
  echo "$images/first_recipe.png"
}
# A training that the Playground has paused, and an image by the weights it had then.
pause() {
  local worker
  fresh paused tour/generation.toml train.steps=20000 train.checkpoint.every_steps=200 train.evaluate.every_steps=20000
  "$build/bin/vitrine" work --db "$fresh" >/dev/null 2>&1 &
  worker=$!
  sleep 30
  open_window 1440 900 "$fresh" --page playground --run 1
  sleep 5
  xdotool mousemove 1335 140 click 1  # Pause training
  sleep 15
  xdotool key ctrl+Return  # Draw
  sleep 15
  import -window root "$images/first_pause.png"
  close_window
  kill "$worker"
  wait "$worker" || true
  echo "$images/first_pause.png"
}
# An image of the tour made again from its recipe.
verify() {
  open_window 1440 900 "$tour" --page gallery --run "$painter" --view '{"view": "sheet", "search": "class:8"}'
  xdotool mousemove 343 202 click 1  # the first image
  sleep 1
  xdotool key v
  sleep 25
  import -window root "$images/first_verify.png"
  close_window
  echo "$images/first_verify.png"
}
# One image, and a patch of its film clicked.
replay() {
  open_window 1440 900 "$tour" --page playground --run "$painter" --view "{\"settings\": {\"run\": $painter, \"checkpoint\": \"2000\",
    \"weights\": \"ema\", \"sampler\": \"ode\", \"values\": {\"class\": 8, \"seed\": 7, \"steps\": 20, \"count\": 4, \"previews\": 8, \"guidance\": 2.0}},
    \"drawn\": true}"
  sleep 15
  xdotool mousemove 1021 743 click 1  # the last picture of the film
  sleep 15
  import -window root "$images/first_replay.png"
  close_window
  echo "$images/first_replay.png"
}
if $has_display; then
  reopen
  pause
  verify
  replay
fi

# Few colours are enough for a window: a third of the bytes, where ImageMagick is installed.
if command -v convert >/dev/null; then
  for picture in "$images"/*.png; do
    convert "$picture" +dither -colors 200 -strip -define png:compression-level=9 "$picture"
  done
fi
