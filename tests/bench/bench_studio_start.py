"""Times vitrine-studio from the start of its process to a drawn window, over a database of 100 runs.

A frame buffer without a screen (Xvfb) keeps its pixels in a file; the window counts as drawn when the list of runs, the
curves and the inspector are all there. Exit 1 when the median is above the limit.
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
parser.add_argument("--runs", type=int, default=100)
parser.add_argument("--limit-ms", type=float, default=500)
arguments = parser.parse_args()

WIDTH, HEIGHT = 1440, 900
# Left, top, width, height of what must be there, in pixels: names of runs, a curve, facts of the current run.
PLACES = {"runs": (0, 110, 280, 400), "curves": (340, 130, 300, 300), "inspector": (1140, 110, 290, 300)}
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


def once(folder, database, pixels, header):
    environment = dict(os.environ, DISPLAY=":" + display, QT_QPA_PLATFORM="xcb", QT_SCALE_FACTOR="1",
                       XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder)
    begin = time.perf_counter()
    studio = subprocess.Popen([os.path.join(arguments.build, "bin", "vitrine-studio"), "--db", database],
                              env=environment, stderr=subprocess.DEVNULL)
    try:
        missing = set(PLACES)
        while missing:
            missing = {name for name in missing if colours(pixels, header, PLACES[name]) <= COLOURS}
            took = (time.perf_counter() - begin) * 1000
            if took > 30_000 or studio.poll() is not None:
                raise SystemExit(f"bench: the window was not drawn; missing after {took:.0f} ms: {sorted(missing)}")
            time.sleep(0.002)
        with open(f"/proc/{studio.pid}/stat") as stat:
            ticks = stat.read().rsplit(")", 1)[1].split()[11:13]  # user and system time
        return took, sum(int(t) for t in ticks) * 1000 / os.sysconf("SC_CLK_TCK")
    finally:
        studio.kill()
        studio.wait()
        while any(colours(pixels, header, place) > 1 for place in PLACES.values()):
            time.sleep(0.01)  # the screen is empty again before the next turn


with tempfile.TemporaryDirectory() as folder:
    database = os.path.join(folder, "runs.sqlite")
    extra = str(max(0, arguments.runs - 12))  # the sample has a dozen in every state
    subprocess.run([os.path.join(arguments.build, "tests", "sample_database"), database, extra], check=True,
                   stdout=subprocess.DEVNULL)
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
        once(folder, database, pixels, header)  # the first reads programs and fonts from the disk
        took = [once(folder, database, pixels, header) for _ in range(arguments.turns)]
    finally:
        server.terminate()
        server.wait()
median = statistics.median(wall for wall, _ in took)
computed = statistics.median(cpu for _, cpu in took)  # what it would take on a machine that does nothing else
print(f"{arguments.runs} runs: window drawn after {median:.0f} ms (median of {len(took)}; "
      f"{min(took)[0]:.0f} to {max(took)[0]:.0f}), of them {computed:.0f} ms computing; "
      f"limit {arguments.limit_ms:.0f} ms, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
sys.exit(0 if median <= arguments.limit_ms else 1)
