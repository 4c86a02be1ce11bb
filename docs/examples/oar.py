#!/usr/bin/env python3
"""A driver for OAR, with the rights of a plain user and nothing installed at the centre.

It is `driver.py`, which must lie beside it, with OAR as the resource manager instead of this machine.
Put both, and the folder, where all nodes see them under the same path.

    oar.py --folder DIR [--queue default]

Sites with `claims = "pilots"` or `claims = "none"`. Each job of OAR runs this file on its first node
(`--job`), which keeps in DIR/NAME when it began and how it ended. Work is told to end, and a pilot to
go, by files there. Tried with OAR 2.5.9.
"""
import argparse
import contextlib
import fcntl
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time

import driver
from driver import Denied, Driver, Machine, made, read, write

PATIENCE = 30  # seconds for a command of OAR
REFUSED = re.compile(r"not enough resources|Bad resource request|There are no resource|ADMISSION RULE\] ?\[?ERROR|syntax error", re.I)
STATES = {"Waiting": "pending", "toLaunch": "pending", "Launching": "pending", "toAckReservation": "pending", "Hold": "held",
          "Running": "running", "Suspended": "running", "Resuming": "running", "Finishing": "running", "toError": "running"}


def oar(*words, lock=None):
    """What a command of OAR says. One that fails leaves unknown what it has done."""
    keep = [lock.fileno()] if lock else []
    p = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, pass_fds=keep)
    if p.returncode:
        raise RuntimeError("%s: %s" % (words[0], " ".join((p.stderr or p.stdout).split())))
    return p.stdout


def listed(*words):
    said = oar(*words).strip()
    return json.loads(said) if said else {}


class OAR(Machine):
    """OAR as its users have it."""

    source = "OAR"

    def __init__(self, folder, queue):
        super().__init__(folder, 0)
        self.queue, self.seen, self.lock = queue, threading.local(), None

    @property
    def nodes(self):
        return sorted({r["network_address"] for r in listed("oarnodes", "-J").values()})

    @nodes.setter
    def nodes(self, _):
        pass

    def jobs(self):
        """The jobs that wait or run, by number."""
        found = getattr(self.seen, "jobs", None)
        return listed("oarstat", "-J", "-f") if found is None else found

    def named(self, name):
        return next((j for j in self.jobs().values() if j["name"] == name and j["owner"] == self.user), None)

    def alive(self, place):
        return self.named(os.path.basename(place)) is not None

    def order(self, place):
        """The order of a job, with its number: OAR's, or what the job itself has noted."""
        order = super().order(place)
        if order and "number" not in order:
            job = self.named(order["name"])
            order["number"] = job["Job_Id"] if job else read(os.path.join(place, "number"))
        return order if order and order["number"] else None

    @contextlib.contextmanager
    def alone(self):
        """Waits for a submission that an earlier life of this driver has begun: oarsub holds the lock too."""
        with open(os.path.join(self.folder, ".submit"), "w") as self.lock:
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            yield

    def run(self, r):
        with self.alone():
            return super().run(r)

    def claim(self, r):
        with self.alone():
            return super().claim(r)

    def submit(self, place, order, script=None):
        beside = self.beside(place, order, script)
        write(os.path.join(beside, "order"), order)
        if "granted" in order:
            write(os.path.join(beside, "granted"), order["granted"])
        os.rename(beside, place)
        seconds = int(order.get("limit") or order["end"] - time.time()) + 1
        words = ["oarsub", "-n", order["name"], "-q", self.queue, "-d", place, "-O", "/dev/null", "-E", "/dev/null", "-l",
                 "nodes=%d,walltime=%d:%02d:%02d" % (order.get("count") or len(order["nodes"]), seconds // 3600, seconds // 60 % 60, seconds % 60)]
        if order.get("nodes"):
            words += ["-p", "network_address IN (%s)" % ",".join("'%s'" % n for n in order["nodes"])]
        try:
            oar(*words, shlex.join([sys.executable, os.path.abspath(__file__), "--job", place]), lock=self.lock)
        except RuntimeError as why:
            if not self.alive(place):  # oarsub says that it has failed, though the job is there, if its server does not answer
                if REFUSED.search(str(why)):
                    raise Denied("bad-state", str(why))
                raise
        return {"outcome": "done"}

    def end(self, r):
        place = self.meant(r)
        keeper = place and self.keeper(place)
        job = keeper and self.named(os.path.basename(keeper))
        if job and not read(os.path.join(place, "result")):
            made(os.path.join(keeper, "stop"))
            if not os.path.exists(os.path.join(keeper, "number")):  # nobody is there yet to read that
                oar("oardel", str(job["Job_Id"]))
        return {"outcome": "done"}

    def look(self, r):
        at, self.seen.jobs = time.time(), listed("oarstat", "-J", "-f")
        try:
            ours = [j for j in map(self.job, self.folders()) if j]
            known = {j["number"] for j in ours}
            jobs = ours + [self.other(j) for j in self.jobs().values() if str(j["Job_Id"]) not in known]
        finally:
            self.seen.jobs = None
        jobs.sort(key=lambda j: ("running", "pending", "held", "ended", "lost").index(j["state"]))
        return {"look": {"at": at, "source": self.source, "nodes": self.machines(), "jobs": jobs, "reservations": []}}

    def machines(self):
        nodes = {}
        for r in listed("oarnodes", "-J").values():
            n = nodes.setdefault(r["network_address"], {"name": r["network_address"], "state": "up", "cpus": 0, "busy": 0, "partitions": [self.queue]})
            n["cpus"] += 1
            n["busy"] += 1 if r.get("jobs") else 0
            if r["state"] != "Alive":
                n["state"] = "down"
            elif r.get("drain") == "YES" and n["state"] == "up":
                n["state"] = "drained"
        return [nodes[n] for n in sorted(nodes)]

    def other(self, j):
        """A job of somebody else. One that cannot be read fails the look."""
        job = {"number": str(j["Job_Id"]), "name": j["name"] or "", "user": j["owner"], "state": STATES[j["state"]],
               "submit": j["submissionTime"], "limit": j["walltime"]}
        nodes = sorted(j["assigned_network_address"])
        if job["state"] == "running":
            job.update(nodes=nodes, start=j["startTime"], end=j["startTime"] + j["walltime"])
        wanted = re.search(r"(?:network_address|resource_id)=(\d+)", j["wanted_resources"])
        job["count"] = len(nodes) or int(wanted.group(1))
        return job


class Told:
    """True once a job has been told to end."""

    def __init__(self, place):
        self.place = place

    def __bool__(self):
        return os.path.exists(os.path.join(self.place, "stop"))


def job(place):
    """What a job of OAR does on its first node."""
    order = read(os.path.join(place, "order"))
    write(os.path.join(place, "number"), int(os.environ["OAR_JOB_ID"]))
    if "granted" not in order:
        return driver.work(place, order, Told(place))
    with open(os.environ["OAR_NODE_FILE"]) as f:
        nodes = sorted({line.strip() for line in f})
    write(os.path.join(place, "begun"), {"at": time.time(), "nodes": nodes})
    driver.take = lambda *_: True
    driver.pilot(place, order, Told(place))


def main():
    if sys.argv[1:2] == ["--job"]:
        return job(sys.argv[2])
    p = argparse.ArgumentParser()
    p.add_argument("--folder", required=True)
    p.add_argument("--queue", default="default")
    a = p.parse_args()
    Driver(OAR(a.folder, a.queue)).read()


if __name__ == "__main__":
    main()
