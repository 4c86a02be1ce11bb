"""A cycle of a broker, as a program that chooses for it sees it."""

import json
import sys


class Cycle:
    """The jobs of a cycle, and their windows.

    number, now, budget (credits that can be spent); jobs is a list of dicts with name, user,
    submit, priority, nodes, length, budget, deadline (None: none) and alternatives: dicts with
    start, end, time, cost and parts. Times are in seconds. No two alternatives have a node in
    common at the same time, so any of different jobs can be taken together.
    """

    def __init__(self, request):
        self.number, self.now, self.budget = request["cycle"], request["now"], request["budget"]
        self.jobs = request["jobs"]
        self._left = {j["name"]: j for j in self.jobs}
        self._choose = {}

    def choose(self, job, alternative):
        """Takes one of a job's alternatives. What it costs is taken off the budget."""
        if self._left.get(job["name"]) is not job:
            raise ValueError("job %s has its window already, or is not of this cycle" % job["name"])
        if alternative["cost"] > self.budget:
            raise ValueError("job %s: %s credits, the budget has %s left" % (job["name"], alternative["cost"], self.budget))
        self._choose[job["name"]] = 1 + job["alternatives"].index(alternative)
        del self._left[job["name"]]
        self.budget -= alternative["cost"]


def choose(policy):
    """Lets policy(cycle) choose, as the chooser of a broker in a scenario.

    Jobs for which it chooses nothing wait for the next cycle. What it prints goes to stderr.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in sys.stdin:
            cycle = Cycle(json.loads(line))
            policy(cycle)
            out.write(json.dumps({"choose": cycle._choose}, separators=(",", ":")) + "\n")
            out.flush()
    finally:
        sys.stdout = out
