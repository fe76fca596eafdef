"""Times vitrine-studio from the start of its process to a drawn window, and weighs it then.

Three windows take turns: over an empty database, over one of 1,000 runs (--runs), and a window of Qt that holds nothing of
Vitrine: what Qt alone costs. A frame buffer without a screen (Xvfb) keeps its pixels in a file; a window counts as drawn
when every named place has text or curves. Memory is the resident set, and of it what no other process shares. Exit 1 when
a median is above its limit.
"""
import argparse
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--build", required=True, help="build folder with bin/vitrine-studio and tests/sample_database")
parser.add_argument("--turns", type=int, default=9)
parser.add_argument("--runs", type=int, default=1000)
parser.add_argument("--limit-ms", type=float, default=500, help="with runs")
parser.add_argument("--limit-empty-ms", type=float, default=150, help="before there are runs")
parser.add_argument("--limit-empty-mb", type=float, default=60, help="before there are runs")
arguments = parser.parse_args()

WIDTH, HEIGHT = 1440, 900
# Left, top, width, height of what must be there, in pixels: names of runs, a curve, facts of the current run.
PLACES = {
    "full": {"runs": (0, 110, 280, 400), "curves": (340, 130, 300, 300), "inspector": (1140, 110, 290, 300)},
    "empty": {"runs": (0, 110, 280, 400), "page": (300, 110, 700, 400), "inspector": (1140, 110, 290, 300)},
    "alone": {"list": (0, 30, 200, 400), "text": (300, 200, 700, 500)},
}
COLOURS = 12  # text and curves bring at least so many with their smooth edges; an empty panel has one or two


def colours(pixels, header, place):
    left, top, width, height = place
    seen = set()
    for y in range(top, top + height, 3):
        row = header + (y * WIDTH + left) * 4
        seen.update(memoryview(pixels)[row:row + width * 4].cast("I"))
        if len(seen) > COLOURS:
            break
    return len(seen)


def memory(pid):
    """Resident bytes, and of them those that no other process shares."""
    resident = private = 0
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name == "Rss":
                resident = int(rest.split()[0]) * 1024
            if name in ("Private_Clean", "Private_Dirty"):
                private += int(rest.split()[0]) * 1024
    return resident, private


def once(kind, command, folder, pixels, header):
    environment = dict(os.environ, DISPLAY=":" + display, QT_QPA_PLATFORM="xcb", QT_SCALE_FACTOR="1",
                       XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder)
    places = PLACES[kind]
    begin = time.perf_counter()
    window = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        missing = set(places)
        while missing:
            missing = {name for name in missing if colours(pixels, header, places[name]) <= COLOURS}
            took = (time.perf_counter() - begin) * 1000
            if took > 30_000 or window.poll() is not None:
                raise SystemExit(f"bench: the window was not drawn; missing after {took:.0f} ms: {sorted(missing)}")
            time.sleep(0.002)
        with open(f"/proc/{window.pid}/stat") as stat:
            ticks = stat.read().rsplit(")", 1)[1].split()[11:13]  # user and system time
        return took, sum(int(t) for t in ticks) * 1000 / os.sysconf("SC_CLK_TCK"), *memory(window.pid)
    finally:
        window.kill()
        window.wait()
        while any(colours(pixels, header, place) > 1 for place in places.values()):
            time.sleep(0.01)  # the screen is empty again before the next turn


with tempfile.TemporaryDirectory() as folder:
    studio = os.path.join(arguments.build, "bin", "vitrine-studio")
    database = os.path.join(folder, "runs.sqlite")
    extra = str(max(0, arguments.runs - 12))  # the sample has a dozen in every state
    subprocess.run([os.path.join(arguments.build, "tests", "sample_database"), database, extra], check=True,
                   stdout=subprocess.DEVNULL)
    commands = {"alone": [os.path.join(arguments.build, "bench", "qt_alone")],
                "empty": [studio, "--db", os.path.join(folder, "empty.sqlite")],
                "full": [studio, "--db", database, "--page", "monitor"]}
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24",
                               "-fbdir", folder, "-nolisten", "tcp"], pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as answer:
            display = answer.readline().strip()
        with open(os.path.join(folder, "Xvfb_screen0"), "rb") as file:
            pixels = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        # An XWD file: its header says how long it is and how many colour entries of 12 bytes follow.
        header = int.from_bytes(pixels[0:4], "big") + 12 * int.from_bytes(pixels[76:80], "big")
        for kind, command in commands.items():  # the first reads programs and fonts from the disk
            once(kind, command, folder, pixels, header)
        took = {kind: [] for kind in commands}
        for _ in range(arguments.turns):
            for kind, command in commands.items():
                took[kind].append(once(kind, command, folder, pixels, header))
    finally:
        server.terminate()
        server.wait()
titles = {"alone": "Qt alone", "empty": "empty database", "full": f"{arguments.runs:,} runs"}
print(f"{'window':16} {'drawn, ms':>24} {'computing, ms':>14} {'resident, MB':>13} {'its own, MB':>12}")
medians = {}
for kind, turns in took.items():
    wall, computing, resident, private = (statistics.median(column) for column in zip(*turns))
    medians[kind] = wall, private / 1e6
    spread = f"{wall:.0f} ({min(turns)[0]:.0f} to {max(turns)[0]:.0f})"
    print(f"{titles[kind]:16} {spread:>24} {computing:>14.0f} {resident / 1e6:>13.0f} {private / 1e6:>12.0f}")
print(f"median of {arguments.turns}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; limits: empty "
      f"{arguments.limit_empty_ms:.0f} ms and {arguments.limit_empty_mb:.0f} MB of its own, with runs "
      f"{arguments.limit_ms:.0f} ms")
sys.exit(0 if medians["empty"][0] <= arguments.limit_empty_ms and medians["empty"][1] <= arguments.limit_empty_mb
         and medians["full"][0] <= arguments.limit_ms else 1)
