"""EASY backfilling: bourse replay LOG --scheduler 'python3 easy.py'."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bourse


def easy(site):
    queue = list(site.waiting.values())
    while queue and queue[0].nodes <= site.free:
        site.start(queue.pop(0))
    if not queue:
        return
    # The head's place: when enough nodes come free by the estimates, and what is left then.
    head, free, shadow, extra = queue[0], site.free, None, 0
    ends = sorted((j.start + j.estimate, j.nodes) for j in site.running.values())
    for k, (end, nodes) in enumerate(ends):
        free += nodes
        if free >= head.nodes and (k + 1 == len(ends) or ends[k + 1][0] > end):
            shadow, extra = end, free - head.nodes
            break
    for job in queue[1:]:
        if job.nodes <= site.free and (site.now + job.estimate <= shadow or job.nodes <= extra):
            if site.now + job.estimate > shadow:
                extra -= job.nodes
            site.start(job)


if __name__ == "__main__":
    bourse.run(easy)
