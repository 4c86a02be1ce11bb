"""Bourse as a child, which is asked on its standard input and output."""

import json
import os
import subprocess
import tempfile


class BourseError(RuntimeError):
    """Bourse has ended the replay; the text says why."""


class Bourse:
    """A replay of worlds side by side that somebody here decides about."""

    def __init__(self, trace, procs, worlds, stretch=None, seed=1, options=(), command=None):
        command = command or os.environ.get("BOURSE", "bourse")
        args = [command, "replay", trace, "--scheduler", "-", "--side-by-side", str(worlds), "--seed", str(seed)]
        if procs is not None:
            args += ["--procs", str(procs)]
        if stretch is not None:
            args += ["--stretch", str(stretch)]
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(args + list(options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said)
        try:
            begin = self.receive()["begin"]
            self.send({"version": 1})
        except BourseError:
            self.close()
            raise
        self.nodes, self.jobs = begin["nodes"], begin["jobs"]

    def receive(self):
        line = self._process.stdout.readline()
        if not line:
            raise BourseError(self._why())
        return json.loads(line)

    def send(self, answer):
        try:
            self._process.stdin.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise BourseError(self._why()) from None

    def _why(self):
        self._process.wait()
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip() or "bourse has ended with status %s" % self._process.returncode

    def close(self):
        """Ends the replay; more than once does no harm."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            try:
                stream.close()
            except BrokenPipeError:
                pass
