"""A log as an environment for learning."""

import random

from .lines import Bourse
from .site import Site

try:  # spaces and arrays only where gymnasium is
    import gymnasium
    import numpy
except ImportError:
    gymnasium = numpy = None

BOUND = 10  # seconds, of the bounded slowdown


class _World:
    """One world: when a decision is due, and what it earns."""

    def __init__(self, number, nodes, jobs, window, reward):
        self.site = Site(nodes, number)
        self.coming = jobs
        self.window = window
        self.bsld = reward == "bsld"
        self.earned = 0.0
        self.over = False

    def happened(self, request):
        """Takes a request, and reports whether a decision is due or all is over."""
        if "end" in request:
            self.over = True
            return True
        ended = self.site._happened(request)
        self.coming -= len(request["arrived"])
        if self.bsld:
            for job in ended:
                run = self.site.now - job.start
                self.earned -= max(1.0, (self.site.now - job.submit) / max(run, BOUND))
        return self._fits() is not None

    def rows(self):
        """The first jobs that wait."""
        rows = []
        for job in self.site.waiting.values():
            if len(rows) == self.window:
                break
            rows.append(job)
        return rows

    def _fits(self):
        """The first row that fits."""
        for job in self.rows():
            if job.nodes <= self.site.free:
                return job
        return None

    def act(self, action):
        """Carries an action out. The answer is None while another row fits at this instant."""
        rows = self.rows()
        job = rows[action] if 0 <= action < len(rows) else None
        if job is None or job.nodes > self.site.free:  # wait, unless nothing would ever happen
            job = None
            if not self.site.running and self.coming == 0:
                job = self._fits()
        if job is not None:
            self.site.start(job)
            if not self.bsld:
                self.earned -= self.site.now - job.submit
            if self._fits() is not None:
                return None
        return self.site._answer()

    def observation(self):
        site = self.site
        seen = [[float(site.now - j.submit), float(j.estimate), float(j.nodes), float(j.nodes <= site.free)]
                for j in (() if self.over else self.rows())]
        seen += [[0.0] * 4 for _ in range(self.window - len(seen))]
        return seen if numpy is None else numpy.array(seen, dtype=numpy.float32)

    def reward(self):
        earned, self.earned = self.earned, 0.0
        return earned

    def info(self):
        return {"now": self.site.now, "free": self.site.free, "waiting": len(self.site.waiting), "running": len(self.site.running)}


class VectorEnv:
    """n stretches of a log at once, in one process: ten times as fast as alone.

    reset(seed=) and step(actions) have lists of n observations, rewards and so on. A world that
    is over begins again at once, with a stretch drawn from the seed; its last observation is in
    infos[k]["final_observation"]. Of the same seed and actions come the same numbers.

    trace, procs     the log, and the processors of the site (None: from its header)
    window           how many waiting jobs are seen, from the first
    stretch          jobs of an episode (None: the whole log)
    reward           "wait": minus the wait of the job that is started; "bsld": minus the bounded
                     slowdown of each job, at its end
    options          further flags of bourse replay, such as ["--skip", "2000"]
    command          the program bourse (default: BOURSE of the environment, or bourse)

    An observation has a row (wait, estimate, nodes, fits) for each of the first window waiting
    jobs, and zeros after them. An action is a row, whose job starts, or window: wait until
    something happens. A row that does not fit waits too. If nothing runs and no job is to come,
    waiting would last for ever: then the first row that fits starts.
    """

    def __init__(self, trace, procs=None, n=1, window=16, stretch=None, reward="wait", options=(), command=None):
        if reward not in ("wait", "bsld"):
            raise ValueError('reward %r: must be "wait" or "bsld"' % (reward,))
        if n < 1 or window < 1:
            raise ValueError("n and window must be 1 or more")
        self.num_envs, self.window = n, window
        self._args = dict(trace=trace, procs=procs, worlds=n, stretch=stretch, options=options, command=command)
        self._reward = reward
        self._bourse = None
        self._worlds = []
        self._random = random.Random(0)
        if gymnasium is not None:
            self.single_action_space = gymnasium.spaces.Discrete(window + 1)
            self.single_observation_space = gymnasium.spaces.Box(0, numpy.inf, (window, 4), numpy.float32)

    def _new(self, k):
        return _World(k, self._bourse.nodes, self._bourse.jobs, self.window, self._reward)

    def _draw(self):
        return self._random.getrandbits(32)

    def _go(self, answers):
        """Says the answers, and goes on until in each of these worlds a decision is due."""
        while answers:
            self._bourse.send(answers)
            answers = []
            for request in self._bourse.receive():
                world = self._worlds[request["world"]]
                if not world.happened(request):
                    answers.append(world.site._answer())

    def reset(self, seed=None, options=None):
        if seed is not None:
            self._random = random.Random(seed)
        if self._bourse is None:
            self._bourse = Bourse(**self._args)
            self._worlds = [self._new(k) for k in range(self.num_envs)]
            self._bourse.receive()  # where the worlds begin by chance; they begin again
        self._worlds = [self._new(k) for k in range(self.num_envs)]
        self._go([{"world": k, "again": self._draw()} for k in range(self.num_envs)])
        return [w.observation() for w in self._worlds], [w.info() for w in self._worlds]

    def step(self, actions):
        if len(actions) != self.num_envs:
            raise ValueError("%d actions for %d worlds" % (len(actions), self.num_envs))
        answers = []
        for world, action in zip(self._worlds, actions):
            answer = world.act(int(action))
            if answer is not None:
                answers.append(answer)
        self._go(answers)
        rewards = [w.reward() for w in self._worlds]
        over = [w.over for w in self._worlds]
        infos = [w.info() for w in self._worlds]
        answers = []
        for k, world in enumerate(self._worlds):
            if over[k]:
                infos[k]["final_observation"] = world.observation()
                answers.append({"world": k, "again": self._draw()})
                self._worlds[k] = self._new(k)
        self._go(answers)
        return [w.observation() for w in self._worlds], rewards, over, [False] * self.num_envs, infos

    def close(self):
        if self._bourse is not None:
            self._bourse.close()
            self._bourse = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Env:
    """A log as an environment, with the methods of gymnasium.Env; see VectorEnv.

    reset(seed=) draws a stretch and returns an observation and an info; step(action) returns an
    observation, a reward, terminated, truncated and an info. A step is an instant at which some
    row fits.
    """

    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, trace, procs=None, window=16, stretch=None, reward="wait", options=(), command=None):
        self._all = VectorEnv(trace, procs, 1, window, stretch, reward, options, command)
        self.window = window
        self._over = True
        if gymnasium is not None:
            self.action_space = self._all.single_action_space
            self.observation_space = self._all.single_observation_space

    def reset(self, seed=None, options=None):
        seen, infos = self._all.reset(seed=seed)
        self._over = False
        return seen[0], infos[0]

    def step(self, action):
        if self._over:
            raise RuntimeError("the episode is over; call reset first")
        one = self._all
        world = one._worlds[0]
        answer = world.act(int(action))
        one._go([] if answer is None else [answer])
        self._over = world.over
        return world.observation(), world.reward(), world.over, False, world.info()

    def close(self):
        self._all.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


if gymnasium is not None:

    class Env(Env, gymnasium.Env):  # noqa: F811
        __doc__ = Env.__doc__
