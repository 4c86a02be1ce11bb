"""What became of the jobs of a replay."""

import collections
import csv


class Done(collections.namedtuple("Done", "id submit start end nodes estimate kind")):
    """A job that ran. Times are in seconds; kind is immediate, backfilled, reserved or reservation."""

    __slots__ = ()

    @property
    def wait(self):
        return self.start - self.submit

    @property
    def run(self):
        return self.end - self.start

    def slowdown(self, bound=10):
        """The bounded slowdown."""
        return max(1.0, (self.wait + self.run) / max(self.run, bound))


def _seconds(text):
    value = float(text)
    return int(value) if value.is_integer() else value


def read_jobs(file):
    """Reads the rows that bourse replay --jobs-out wrote, in the order of the log."""
    with open(file, newline="") as f:
        rows = csv.DictReader(f)
        columns = ["job", "submit", "start", "end", "procs", "estimate", "kind"]
        missing = [c for c in columns if c not in (rows.fieldnames or [])]
        if missing:
            raise ValueError("%s: no column %s; bourse replay --jobs-out writes such a file" % (file, ", ".join(missing)))
        return [Done(int(r["job"]), _seconds(r["submit"]), _seconds(r["start"]), _seconds(r["end"]), int(r["procs"]),
                     _seconds(r["estimate"]), r["kind"]) for r in rows]
