"""Orders as the program of RLScheduler (Zhang et al., SC 2020) codes them, and by the papers' rules.

    bourse replay lublin_256.swf --procs 256 --side-by-side 10 --stretch 1024 \\
        --scheduler 'python3 rlscheduler.py wfp3 coded'

"coded": a waiting job's wait is -1 - submit, and the first job is kept until it starts, whoever
arrives meanwhile. "ruled": waits are waits, and the order is made anew at each instant. Neither
backfills: the first job that does not fit ends the pass.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bourse

ORDER, MODE = sys.argv[1:] or ("fcfs", "ruled")


def score(job, now):
    wait = now - job.submit if MODE == "ruled" else -1 - job.submit
    estimate = max(job.estimate, 1)
    return {
        "fcfs": job.submit,
        "sjf": job.estimate,
        "wfp3": -((wait / estimate) ** 3) * job.nodes,
        "f1": math.log10(estimate) * job.nodes + 870 * math.log10(max(job.submit, 0.1)),
    }[ORDER]


kept = {}  # by world: the job that was chosen and does not fit yet


def policy(site):
    while site.waiting:
        job = site.waiting.get(kept.get(id(site)))
        if job is None or MODE == "ruled":
            job = min(site.waiting.values(), key=lambda j: (score(j, site.now), j.submit, j.id))
            kept[id(site)] = job.id
        if job.nodes > site.free:
            return
        site.start(job)


if __name__ == "__main__":
    bourse.run(policy)
