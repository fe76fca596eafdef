"""Programs that take turns. See README.md."""
import os
import statistics
import subprocess


class Skipped(Exception):
    """A side says why it cannot run here."""


class Side:
    """One loaded program that answers a line with numbers: mostly, a number of iterations with their milliseconds."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **(environment or {})))

    def wait(self):
        """Until it is loaded and warm; sides that are started together are loaded together."""
        word = self.process.stdout.readline().strip()
        if word.startswith("skipped"):
            raise Skipped(word)
        if word != "ready":
            raise SystemExit(f"bench: {self.name} did not start: {' '.join(self.process.args)}")
        return self

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        numbers = [float(word) for word in self.process.stdout.readline().split()]
        if not numbers:
            raise SystemExit(f"bench: {self.name} ended: {' '.join(self.process.args)}")
        return numbers

    def turn(self, iterations):
        return statistics.median(self.ask(iterations))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
