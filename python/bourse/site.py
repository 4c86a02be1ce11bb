"""The site as a policy sees it."""

import json
import sys


class Job:
    """A job of the log. Times are in seconds.

    id, nodes, estimate, submit, user; start is None while it waits.
    """

    __slots__ = ("id", "nodes", "estimate", "submit", "user", "start")

    def __init__(self, id, nodes, estimate, submit, user):
        self.id = id
        self.nodes = nodes
        self.estimate = estimate
        self.submit = submit
        self.user = user
        self.start = None

    def __repr__(self):
        return "Job(id=%r, nodes=%r, estimate=%r, submit=%r, user=%r)" % (
            self.id, self.nodes, self.estimate, self.submit, self.user)


class Site:
    """One group of nodes, and what is to be done at this instant.

    now, nodes, free; waiting and running are dicts of jobs by id, in the order in which they
    arrived and started.
    """

    def __init__(self, nodes, world=None):
        self.now = None
        self.nodes = nodes
        self.free = nodes
        self.waiting = {}
        self.running = {}
        self.world = world  # its number, among worlds side by side
        self._clear()

    def _clear(self):
        self._start, self._reject, self._kill, self._wake = [], [], [], None

    def _happened(self, request):
        """Takes a request, and returns the jobs that have ended."""
        self.now, self.free = request["now"], request["free"]
        ended = [self.running.pop(i) for i in request["ended"]]
        for j in request["arrived"]:
            self.waiting[j["id"]] = Job(j["id"], j["nodes"], j["estimate"], j["submit"], j["user"])
        return ended

    def _answer(self):
        answer = {}
        if self.world is not None:
            answer["world"] = self.world
        if self._start:
            answer["start"] = self._start
        if self._reject:
            answer["reject"] = self._reject
        if self._kill:
            answer["kill"] = self._kill
        if self._wake is not None:
            answer["wake"] = self._wake
        self._clear()
        return answer

    def start(self, job):
        """Starts a job that waits, now. Its nodes must be free."""
        if job.id not in self.waiting:
            raise ValueError("job %s does not wait" % job.id)
        if job.nodes > self.free:
            raise ValueError("job %s needs %d nodes, %d are free" % (job.id, job.nodes, self.free))
        del self.waiting[job.id]
        self.running[job.id] = job
        self.free -= job.nodes
        job.start = self.now
        self._start.append(job.id)

    def reject(self, job):
        """Turns a job away that waits."""
        del self.waiting[job.id]
        self._reject.append(job.id)

    def kill(self, job):
        """Kills a job that has run since before this instant. Its nodes are free at once."""
        if job.start == self.now and job.id in self._start:
            raise ValueError("job %s has only just been started" % job.id)
        del self.running[job.id]
        self.free += job.nodes
        self._kill.append(job.id)

    def wake(self, at):
        """Asks for a call at an instant, even if nothing happens. A later wish replaces it."""
        if at <= self.now:
            raise ValueError("wake %s is not later than now, %s" % (at, self.now))
        self._wake = at


def run(policy):
    """Lets policy(site) decide, as the program of bourse replay --scheduler.

    policy is called at each instant at which a job ends or arrives, or which it wished for. What
    it prints goes to stderr. Side by side, it is called for each world with a site of its own.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    nodes, sites = None, {}

    def decide(request):
        world = request.get("world")
        if "end" in request:
            sites.pop(world, None)
            return {} if world is None else {"world": world}
        if world not in sites:
            sites[world] = Site(nodes, world)
        site = sites[world]
        site._happened(request)
        policy(site)
        return site._answer()

    try:
        for line in sys.stdin:
            request = json.loads(line)
            if isinstance(request, list):
                answer, over = [decide(r) for r in request], False
            elif "begin" in request:
                nodes, answer, over = request["begin"]["nodes"], {"version": 1}, False
            else:
                answer, over = decide(request), "end" in request
            out.write(json.dumps(answer, separators=(",", ":")) + "\n")
            out.flush()
            if over:
                return
    finally:
        sys.stdout = out
