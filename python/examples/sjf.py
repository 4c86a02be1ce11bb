"""The shortest job first, without backfilling: bourse replay LOG --scheduler 'python3 sjf.py'."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bourse


def sjf(site):
    for job in sorted(site.waiting.values(), key=lambda j: (j.estimate, j.submit, j.id)):
        if job.nodes > site.free:
            break
        site.start(job)


bourse.run(sjf)
