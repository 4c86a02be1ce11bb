"""Each job's cheapest window, the jobs that cost least first: chooser = ["python3", "cheapest.py"]."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bourse


def cheapest(cycle):
    best = [(min(j["alternatives"], key=lambda a: (a["cost"], a["end"])), j) for j in cycle.jobs]
    for window, job in sorted(best, key=lambda b: (b[0]["cost"], b[1]["name"])):
        if window["cost"] > cycle.budget:
            break
        cycle.choose(job, window)


bourse.choose(cheapest)
