"""Tests of the package against the program bourse: python3 -m unittest, with BOURSE and LOG set."""

import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import bourse

PROCS = 64


def log():
    return os.environ["LOG"]


def replay(*args):
    """The starts of a replay, by job, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, "jobs.csv")
        done = subprocess.run([os.environ["BOURSE"], "replay", log(), "--procs", str(PROCS), "--jobs-out", rows, *args], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return {j.id: j.start for j in bourse.read_jobs(rows)}


class Policies(unittest.TestCase):
    def test_sjf_is_the_order_sjf(self):
        got = replay("--scheduler", "%s %s/../examples/sjf.py" % (sys.executable, HERE))
        self.assertEqual(got, replay("--policy", "fcfs", "--order", "sjf"))
        self.assertTrue(got)

    def test_easy_is_the_policy(self):
        self.assertEqual(replay("--scheduler", "%s %s/../examples/easy.py" % (sys.executable, HERE)), replay("--policy", "easy"))

    def test_orders_by_the_rules_are_those_by_formula(self):
        program = "%s %s/../examples/rlscheduler.py" % (sys.executable, HERE)
        for order in ("sjf", "wfp3"):
            ruled = replay("--scheduler", "%s %s ruled" % (program, order))
            self.assertEqual(ruled, replay("--policy", "fcfs", "--order", order))
            self.assertNotEqual(ruled, replay("--scheduler", "%s %s coded" % (program, order)))

    def test_a_policy_that_fails_ends_the_replay(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
            f.write("import sys\nsys.path.insert(0, %r)\nimport bourse\nbourse.run(lambda site: 1 / 0)\n" % (HERE + "/.."))
            f.flush()
            done = subprocess.run([os.environ["BOURSE"], "replay", log(), "--procs", str(PROCS), "--scheduler", sys.executable + " " + f.name],
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn("the program has ended (exit status 1)", done.stderr)


def talk(policy, *requests, by=None):
    """What run(policy) answers, or another function than run."""
    was = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = io.StringIO("".join(json.dumps(r) + "\n" for r in requests)), io.StringIO()
    try:
        (by or bourse.run)(policy)
        return [json.loads(line) for line in sys.stdout.getvalue().splitlines()]
    finally:
        sys.stdin, sys.stdout = was


def arrival(id, nodes=1):
    return {"id": id, "nodes": nodes, "estimate": 60, "submit": 5, "user": "u"}


class Sites(unittest.TestCase):
    begin = {"begin": {"version": 1, "nodes": 4, "jobs": 2, "seed": 1}}

    def test_what_a_policy_does_is_answered(self):
        def policy(site):
            if site.now == 5:
                a, b = site.waiting.values()
                site.start(a)
                site.reject(b)
                site.wake(9)
                print("not for bourse")
                self.assertEqual((site.free, site.nodes, list(site.running)), (1, 4, [1]))
                self.assertRaises(ValueError, site.start, a)
                self.assertRaises(ValueError, site.kill, a)
                self.assertRaises(ValueError, site.wake, 5)
            else:
                site.kill(site.running[1])
                self.assertEqual(site.free, 4)
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            got = talk(policy, self.begin, {"now": 5, "free": 4, "ended": [], "arrived": [arrival(1, 3), arrival(2)]},
                       {"now": 9, "free": 1, "ended": [], "arrived": []}, {"end": {"now": 9}})
        finally:
            sys.stderr = stderr
        self.assertEqual(got, [{"version": 1}, {"start": [1], "reject": [2], "wake": 9}, {"kill": [1]}, {}])

    def test_side_by_side_each_world_has_its_site(self):
        def policy(site):
            for job in list(site.waiting.values()):
                site.start(job)
        request = {"now": 5, "free": 4, "ended": [], "arrived": [arrival(1)]}
        got = talk(policy, self.begin, [dict(request, world=0), dict(request, world=1)], [{"world": 1, "end": {"now": 5}}])
        self.assertEqual(got, [{"version": 1}, [{"world": 0, "start": [1]}, {"world": 1, "start": [1]}], [{"world": 1}]])


SCENARIO = """
until = "2d"
[[site]]
name = "north"
[[site.group]]
name = "main"
nodes = 16
price = 1.0
[[broker]]
name = "vo1"
budget = 60.0
cycle = "30m"
horizon = "1d"
strategy = "program"
chooser = [%s]
[broker.workload]
model = "uniform"
jobs = 20
days = 1
nodes = [1, 8]
"""


def simulate(folder, program):
    """A simulation whose broker asks a program."""
    file = os.path.join(folder, "scenario.toml")
    with open(file, "w") as f:
        f.write(SCENARIO % ", ".join(json.dumps(word) for word in program))
    return subprocess.run([os.environ["BOURSE"], "simulate", file, "--json"], capture_output=True, text=True)


class Choosers(unittest.TestCase):
    cycle = {"cycle": 4, "now": 7200, "budget": 50, "jobs": [
        {"name": "wave", "alternatives": [{"cost": 40, "end": 9}, {"cost": 30, "end": 10}]}, {"name": "tide", "alternatives": [{"cost": 25, "end": 9}]}]}

    def test_what_a_policy_chooses_is_answered(self):
        def policy(cycle):
            job = cycle.jobs[0]
            cycle.choose(job, job["alternatives"][1])
            self.assertEqual((cycle.number, cycle.now, cycle.budget), (4, 7200, 20))

        self.assertEqual(talk(policy, self.cycle, by=bourse.choose), [{"choose": {"wave": 2}}])
        self.assertEqual(talk(lambda cycle: None, self.cycle, by=bourse.choose), [{"choose": {}}])

    def test_a_wrong_choice_says_why(self):
        def policy(cycle):
            wave, tide = cycle.jobs
            cycle.choose(wave, wave["alternatives"][1])
            with self.assertRaisesRegex(ValueError, "has its window already"):
                cycle.choose(wave, wave["alternatives"][0])
            with self.assertRaisesRegex(ValueError, "25 credits, the budget has 20 left"):
                cycle.choose(tide, tide["alternatives"][0])

        self.assertEqual(talk(policy, self.cycle, by=bourse.choose), [{"choose": {"wave": 2}}])

    def test_the_example_stays_within_the_budget(self):
        with tempfile.TemporaryDirectory() as folder:
            done = simulate(folder, [sys.executable, os.path.abspath(HERE + "/../examples/cheapest.py")])
            self.assertEqual(done.returncode, 0, done.stderr)
            vo = json.loads(done.stdout)["brokers"][0]
            self.assertTrue(0 < vo["jobs"]["placed"] < 20, vo)
            self.assertLessEqual(vo["spent"], 60)

    def test_a_program_that_fails_ends_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "my.py"), "w") as f:
                f.write("input()\nraise SystemExit(7)\n")
            done = simulate(folder, [sys.executable, "my.py"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r'broker "vo1", seed 1: chooser: at [0-9.]+, cycle [0-9]+: the program has ended \(exit status 7\)')


class Envs(unittest.TestCase):
    def env(self, **more):
        env = bourse.Env(log(), PROCS, **dict(dict(window=8, stretch=60), **more))
        self.addCleanup(env.close)
        return env

    def episode(self, env, seed, act):
        seen, _ = env.reset(seed=seed)
        steps, over = [], False
        while not over:
            seen, reward, over, truncated, info = env.step(act(seen))
            self.assertFalse(truncated)
            steps.append((tuple(map(tuple, seen)), reward, info["now"]))
        return steps

    @staticmethod
    def first_that_fits(rows):
        return next(k for k, row in enumerate(rows) if row[3] == 1)

    def test_same_seed_and_actions_give_the_same(self):
        a, b = self.env(), self.env()
        first = self.episode(a, 3, self.first_that_fits)
        self.episode(a, 4, self.first_that_fits)
        self.assertEqual(first, self.episode(b, 3, self.first_that_fits))
        self.assertEqual(first, self.episode(a, 3, self.first_that_fits))
        self.assertNotEqual(first, self.episode(a, 5, self.first_that_fits))

    def test_each_step_is_where_a_row_fits_and_rows_are_zero_after_the_last(self):
        env = self.env()
        seen, _ = env.reset(seed=1)
        over = False
        while not over:
            self.assertEqual([len(seen)] + [len(row) for row in seen], [8] + [4] * 8)
            self.assertTrue(any(row[3] == 1 for row in seen))
            jobs = [row[2] > 0 for row in seen]
            self.assertEqual(jobs, sorted(jobs, reverse=True))
            seen, _, over, _, _ = env.step(self.first_that_fits(seen))
        self.assertTrue(all(x == 0 for row in seen for x in row))
        self.assertRaises(RuntimeError, env.step, 0)

    def test_rewards_are_those_of_the_schedule(self):
        # The whole log by FCFS: rewards add up to the waits of the policy.
        env = self.env(stretch=None)
        steps = self.episode(env, 1, lambda rows: 0 if rows[0][3] == 1 else 8)
        starts = replay("--policy", "fcfs")
        submits = {}
        with open(log()) as f:
            for line in f:
                if not line.startswith(";"):
                    words = line.split()
                    submits[int(words[0])] = float(words[1])
        self.assertAlmostEqual(-sum(s[1] for s in steps), sum(starts[i] - submits[i] for i in starts), places=3)

    def test_slowdowns_come_at_the_ends(self):
        done = subprocess.run([os.environ["BOURSE"], "replay", log(), "--procs", str(PROCS), "--policy", "fcfs", "--json"], capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        steps = self.episode(self.env(stretch=None, reward="bsld"), 1, lambda rows: 0 if rows[0][3] == 1 else 8)
        self.assertAlmostEqual(-sum(s[1] for s in steps) / figures["jobs"], figures["boundedSlowdown"], places=6)

    def test_waiting_for_ever_ends(self):
        steps = self.episode(self.env(), 1, lambda rows: 8)
        self.assertGreater(-sum(s[1] for s in steps), 0)  # all jobs were started, the last of them late

    def test_an_episode_may_be_left_early(self):
        env = self.env()
        env.reset(seed=1)
        env.step(0)
        again, _ = env.reset(seed=1)
        other, _ = self.env().reset(seed=1)
        self.assertEqual(list(map(list, again)), list(map(list, other)))

    def test_side_by_side_is_alone(self):
        env = bourse.VectorEnv(log(), PROCS, n=3, window=8, stretch=60)
        self.addCleanup(env.close)
        seen, _ = env.reset(seed=3)
        first, rewards, waiting = list(map(list, seen[0])), [], True
        while waiting:
            seen, earned, over, _, infos = env.step([self.first_that_fits(rows) for rows in seen])
            rewards.append(earned[0])
            waiting = not over[0]
        self.assertIn("final_observation", infos[0])
        alone = self.env()
        self.assertEqual(list(map(list, alone.reset(seed=3)[0])), first)
        self.assertEqual([s[1] for s in self.episode(alone, 3, self.first_that_fits)], rewards)

    def test_a_wrong_call_says_why(self):
        self.assertRaises(ValueError, bourse.Env, log(), PROCS, reward="slowdown")
        with self.assertRaisesRegex(bourse.BourseError, "has [0-9]+ jobs"):
            self.env(stretch=10**6).reset(seed=1)
        with self.assertRaisesRegex(bourse.BourseError, "no such file"):
            bourse.Env("no.swf", PROCS).reset(seed=1)


class Jobs(unittest.TestCase):
    def test_rows_are_read(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write("job,submit,start,end,procs,estimate,kind\n1,100,110.5,111,2,40,backfilled\n")
            f.flush()
            [job] = bourse.read_jobs(f.name)
        self.assertEqual(job, (1, 100, 110.5, 111, 2, 40, "backfilled"))
        self.assertEqual((job.wait, job.run, job.slowdown()), (10.5, 0.5, 1.1))

    def test_another_file_is_refused(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("job,submit\n1,100\n")
            f.flush()
            with self.assertRaisesRegex(ValueError, "no column start"):
                bourse.read_jobs(f.name)


if __name__ == "__main__":
    unittest.main()
