"""Learns which waiting job to start, and compares it with FCFS on jobs that it has not seen.

    bourse generate --model lublin --jobs 6000 --procs 256 --seed 1 > lublin.swf
    python3 learn.py lublin.swf 256

The policy is linear: of the rows that fit, the one with the highest score starts. Random search
(Mania, Guy and Recht, "Simple random search of static linear policies", 2018, in its plainest
form) changes the weights, and keeps what waits less on some stretches of the first 4,000 jobs.
The test is on stretches of the rest, paired, with a 95 % interval. Takes less than a minute.
"""

import math
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bourse

WINDOW, STRETCH, WORLDS, TRIALS, TESTS = 16, 200, 12, 30, 48
SEEN = 4000  # jobs of the log that it learns from
T = 2.012  # Student's t, .975, of TESTS - 1


def features(row):
    wait, estimate, nodes, _ = row
    return (math.log1p(wait) / 12, math.log1p(estimate) / 12, math.log1p(nodes) / 6)


def linear(weights):
    def act(rows):
        best, most = WINDOW, None
        for k, row in enumerate(rows):
            if row[3] == 1:
                score = sum(w * x for w, x in zip(weights, features(row)))
                if most is None or score > most:
                    best, most = k, score
        return best
    return act


def fcfs(rows):
    return 0 if rows[0][3] == 1 else WINDOW


def mean_waits(env, act, seed):
    """The mean wait, in seconds, of one episode in each world."""
    seen, _ = env.reset(seed=seed)
    waits, left = [0.0] * env.num_envs, [True] * env.num_envs
    while any(left):
        seen, rewards, over, _, _ = env.step([act(rows) for rows in seen])
        for k in range(env.num_envs):
            if left[k]:
                waits[k] -= rewards[k] / STRETCH
                left[k] = not over[k]
    return waits


def first_jobs(log, n, file):
    """Writes the first n jobs of a log in the Standard Workload Format."""
    with open(log) as f:
        for line in f:
            if not line.startswith(";"):
                n -= 1
            if n < 0:
                break
            file.write(line)
    file.flush()
    return file.name


def main(log, procs):
    with tempfile.NamedTemporaryFile("w", suffix=".swf") as file:
        best = learn(first_jobs(log, SEEN, file), procs)
    print("weights of wait, estimate, nodes: %.2f %.2f %.2f" % tuple(best))
    test(log, procs, best)


def learn(seen, procs):
    rng = random.Random(1)
    with bourse.VectorEnv(seen, procs, n=WORLDS, window=WINDOW, stretch=STRETCH) as env:
        best = [0.0, 0.0, 0.0]
        least = sum(mean_waits(env, linear(best), seed=1))
        for _ in range(TRIALS):
            trial = [w + rng.gauss(0, 1) for w in best]
            wait = sum(mean_waits(env, linear(trial), seed=1))
            if wait < least:
                best, least = trial, wait
    return best


def test(log, procs, best):
    with bourse.VectorEnv(log, procs, n=TESTS, window=WINDOW, stretch=STRETCH, options=["--skip", str(SEEN)]) as env:
        first, second = mean_waits(env, fcfs, seed=2), mean_waits(env, linear(best), seed=2)
    less = [b - a for a, b in zip(first, second)]
    mean = sum(less) / TESTS
    half = T * math.sqrt(sum((x - mean) ** 2 for x in less) / (TESTS - 1) / TESTS)
    print("mean wait: FCFS %.0f s, learned %.0f s; difference %.0f ± %.0f s" % (sum(first) / TESTS, sum(second) / TESTS, mean, half))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
