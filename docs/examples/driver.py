#!/usr/bin/env python3
"""A driver for Bourse that runs work as processes of this machine.

It shows what a driver has to do and is no more than that: a folder stands for the resource
manager. Replace `Machine` by the commands of yours. Only Python's own modules are used.

    driver.py --folder DIR --nodes N

Each job is a folder DIR/NAME, made whole by one rename, so that a name is submitted once. Its
supervisor (`--supervise`) holds a lock while it lives. The driver itself remembers nothing.
"""
import argparse
import base64
import fcntl
import json
import os
import pwd
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\Z")
GRACE = 5  # seconds from SIGTERM to SIGKILL
LEAVES = 5  # seconds before the end of its grant, when a pilot leaves
SHOWN = 3600  # seconds for which a look shows work that was deleted


class Denied(Exception):
    """The manager has refused: nothing was done or will be."""

    def __init__(self, code, detail):
        super().__init__(detail)
        self.code = code


def write(path, value):
    """Writes a file whole or not at all."""
    with open(path + ".new", "w") as f:
        json.dump(value, f)
        f.flush()
        os.fsync(f.fileno())
    os.rename(path + ".new", path)


def read(path):
    try:
        with open(path) as f:
            return json.load(f)
    except FileNotFoundError:
        return None


def made(folder):
    """Makes a folder, once: who does so has decided."""
    try:
        os.mkdir(folder)
        return True
    except FileExistsError:
        return False


def locked(folder):
    """Whether the supervisor of a job lives."""
    try:
        with open(os.path.join(folder, "lock")) as f:
            try:
                fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True
    except FileNotFoundError:
        return False


class Machine:
    """The resource manager: what there is, and the verbs."""

    source = "processes of this machine"

    def __init__(self, folder, nodes):
        self.folder, self.user = os.path.abspath(folder), pwd.getpwuid(os.getuid()).pw_name
        self.nodes = ["n%03d" % (i + 1) for i in range(nodes)]
        os.makedirs(os.path.join(self.folder, ".deleted"), exist_ok=True)

    def place(self, name):
        return os.path.join(self.folder, name)

    def alive(self, place):
        """Whether a job is there, waiting or running."""
        return locked(place)

    def order(self, place):
        return read(os.path.join(place, "order"))

    def folders(self):
        for name in sorted(os.listdir(self.folder)):
            if not name.startswith("."):
                yield os.path.join(self.folder, name)
        gone = os.path.join(self.folder, ".deleted")
        for name in sorted(os.listdir(gone)):
            folder = os.path.join(gone, name)
            if time.time() - os.stat(folder).st_mtime < SHOWN:
                yield folder

    def job(self, folder):
        """One job of a look; None if it has never begun and never will."""
        order = self.order(folder)
        if order is None:
            return None
        within = order.get("in")
        alive = self.alive(self.place(within) if within else folder)  # before its files: what it writes last counts
        begun, result = (read(os.path.join(folder, f)) for f in ("begun", "result"))
        if not alive and begun is None and not within:
            return None
        job = {"number": str(order["number"]), "name": order["name"], "user": order["user"], "count": order.get("count") or len(order["nodes"]),
               "nodes": begun["nodes"] if begun else [], "exclusive": True, "submit": order["submit"],
               "limit": order.get("limit") or order["end"] - order["start"]}
        if within:
            job["in"] = within
        if result:
            job.update(state="ended", start=begun["at"], end=result["end"], exit=result["exit"], signal=result["signal"])
        elif begun and not alive:
            job.update(state="lost", start=begun["at"], why="its supervisor was killed")
        elif begun:
            job.update(state="running", start=begun["at"], end=order.get("end") or begun["at"] + order["limit"])
            if "granted" in order:
                job["granted"] = read(os.path.join(folder, "granted"))
        elif not alive:
            job.update(state="ended", why="its pilot has left")
        else:
            job.update(state="pending", begin=order.get("start", 0))
        return {k: v for k, v in job.items() if v != []}

    def look(self, _):
        at = time.time()
        jobs = [j for j in map(self.job, self.folders()) if j]
        jobs.sort(key=lambda j: ("running", "pending", "ended", "lost").index(j["state"]))
        busy = {n for j in jobs if j["state"] == "running" for n in j["nodes"]}
        nodes = [{"name": n, "state": "up", "cpus": 1, "busy": int(n in busy), "partitions": ["batch"]} for n in self.nodes]
        return {"look": {"at": at, "source": self.source, "nodes": nodes, "jobs": jobs, "reservations": []}}

    def allowed(self, r):
        """Refuses what can never run here."""
        if r.get("user") != self.user:
            raise Denied("not-allowed", "work runs as %s only" % self.user)
        if os.path.exists(os.path.join(self.folder, ".deleted", r["name"])):
            raise Denied("cancelled", "it was deleted, and is never begun again")

    def run(self, r):
        name, place = r["name"], self.place(r["name"])
        self.allowed(r)
        if not r.get("nodes") or set(r["nodes"]) - set(self.nodes):
            raise Denied("no-node", "it has no such nodes")
        order = {"name": name, "user": self.user, "nodes": r["nodes"], "start": r["start"], "end": r["end"], "submit": time.time(),
                 "command": r.get("command"), "env": r.get("env", {}), "dir": r.get("dir", "")}
        if r.get("in"):
            return self.run_in(order, r["in"], r.get("script"))
        if self.alive(place):
            return {"outcome": "done"}
        if os.path.exists(place):
            raise Denied("bad-state", "it has run before")
        if r["end"] <= time.time():
            raise Denied("past", "its window has ended")
        return self.submit(place, order, r.get("script"))

    def beside(self, place, order, script):
        """A new folder for a job, which nobody sees yet."""
        beside = os.path.join(self.folder, ".%s.%d" % (order["name"], time.time_ns()))
        os.mkdir(beside, 0o700)
        if script:
            with open(os.path.join(beside, "script"), "w") as f:
                f.write(script)
            os.chmod(f.name, 0o700)
            order["command"] = [os.path.join(place, "script")]
        return beside

    def submit(self, place, order, script=None):
        beside = self.beside(place, order, script)
        write(os.path.join(beside, "ask"), order)
        args = [sys.executable, os.path.abspath(__file__), "--supervise", beside, place]
        with subprocess.Popen(args, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
            said = p.stdout.readline().strip()
            p.stdout.close()
            p.returncode = 0  # it lives on: nobody here waits for it
        if said != b"submitted":
            shutil.rmtree(beside, ignore_errors=True)
            if self.alive(place):  # that of an earlier life of this driver has begun it meanwhile
                return {"outcome": "done"}
            raise RuntimeError("its supervisor has not begun")
        return {"outcome": "done"}

    def claim(self, r):
        place = self.place(r["name"])
        self.allowed(r)
        if not 0 < r["count"] <= len(self.nodes) or r["limit"] <= 0 or r["grant"] <= 0:
            raise Denied("too-large", "it has %d nodes, and a pilot needs a limit and a grant" % len(self.nodes))
        if self.alive(place):
            return {"outcome": "done"}
        if os.path.exists(place):
            raise Denied("bad-state", "it has run before")
        return self.submit(place, {"name": r["name"], "user": self.user, "count": r["count"], "limit": r["limit"], "granted": r["grant"],
                                   "submit": time.time(), "all": self.nodes})

    def grant(self, r):
        place = self.place(r["name"])
        if not self.alive(place) or read(os.path.join(place, "left")):
            raise Denied("bad-state", "there is no such pilot, or it has left")
        write(os.path.join(place, "granted"), max(read(os.path.join(place, "granted")), r["seconds"]))
        return {"outcome": "done"}

    def run_in(self, order, pilot, script):
        """Makes a pilot the work. The word to go is there before the decision, which is one mkdir."""
        at, place = self.place(pilot), self.place(order["name"])
        of, (begun, go) = self.order(at), (read(os.path.join(at, f)) for f in ("begun", "go"))
        if not NAME.match(pilot) or of is None or begun is None or not self.alive(at) or read(os.path.join(at, "left")):
            raise Denied("bad-state", "the pilot does not run, or it has left")
        if set(order["nodes"]) - set(begun["nodes"]):
            raise Denied("no-node", "the pilot does not have these nodes")
        if go and go != order["name"]:
            raise Denied("bad-state", "the pilot has become other work")
        if not go:
            order.update({"in": pilot, "number": of["number"]})
            beside = self.beside(place, order, script)
            write(os.path.join(beside, "order"), order)
            os.rename(beside, place)
            write(os.path.join(at, "go"), order["name"])
        made(os.path.join(at, "decided"))
        for _ in range(100):
            if read(os.path.join(at, "left")):
                raise Denied("bad-state", "the pilot has left")
            if read(os.path.join(at, "going")):
                return {"outcome": "done"}
            time.sleep(0.05)
        raise RuntimeError("the pilot does not say whether it goes")

    def meant(self, r):
        """The folder of the very job that a request is about, or None."""
        place = self.place(r["name"])
        order = self.order(place)
        if order is None or r.get("number") not in (None, str(order["number"])):
            return None
        if r.get("submit") is not None and abs(r["submit"] - order["submit"]) > 0.01:
            return None
        return place

    def keeper(self, place):
        """The folder whose supervisor a job has: its own, or its pilot's."""
        return self.place(self.order(place).get("in") or os.path.basename(place))

    def end(self, r):
        place = self.meant(r)
        if place and self.alive(self.keeper(place)) and not read(os.path.join(place, "result")):
            os.kill(self.order(place)["number"], signal.SIGTERM)
        return {"outcome": "done"}

    def delete(self, r):
        place = self.meant(r)
        if place is None:
            return {"outcome": "done"}
        self.end(r)
        until, keeper = time.time() + 2 * GRACE, self.keeper(place)
        while self.alive(keeper) and not read(os.path.join(place, "result")):
            if time.time() > until:
                raise RuntimeError("it was told to end, and has not yet")
            time.sleep(0.05)
        os.rename(place, os.path.join(self.folder, ".deleted", r["name"]))
        os.utime(os.path.join(self.folder, ".deleted", r["name"]))
        return {"outcome": "done"}

    def output(self, r):
        for place in (self.place(r["name"]), os.path.join(self.folder, ".deleted", r["name"])):
            try:
                with open(os.path.join(place, "output"), "rb") as f:
                    size = os.fstat(f.fileno()).st_size
                    start = r.get("from", 0)
                    start = max(0, size + start) if start < 0 else min(start, size)
                    f.seek(start)
                    data = f.read(min(r.get("max", 65536), 65536))
                return {"from": start, "size": size, "data": base64.b64encode(data).decode()}
            except FileNotFoundError:
                pass
        return {"failure": {"code": "unknown", "detail": "there is no output of it"}}


class Driver:
    """The talk: one thread for commands, one for looks, one for output."""

    verbs = ("run", "end", "delete", "claim", "grant")

    def __init__(self, machine):
        self.machine, self.out, self.queues = machine, threading.Lock(), {}
        for kind in ("command", "look", "output"):
            self.queues[kind] = queue.Queue()
            threading.Thread(target=self.serve, args=(self.queues[kind],), daemon=True).start()

    def say(self, id, answer):
        with self.out:
            sys.stdout.write(json.dumps({"id": id, **answer}) + "\n")
            sys.stdout.flush()

    def serve(self, waiting):
        while True:
            r = waiting.get()
            self.say(r["id"], self.answer(r))

    def answer(self, r):
        do = r.get("do")
        try:
            if do == "hello":
                return {"version": 1, "source": self.machine.source, "can": [*self.verbs, "output"]}
            if do == "look":
                return self.machine.look(r)
            if do not in (*self.verbs, "output"):
                raise Denied("invalid", "no such verb")
            if not isinstance(r.get("name"), str) or not NAME.match(r["name"]):
                raise Denied("invalid", "no name of a job")
            return getattr(self.machine, do)(r)
        except Denied as why:
            return {"outcome": "denied", "code": why.code, "detail": str(why)}
        except Exception as why:  # unknown whether it was done
            said = {"code": "no-cluster", "detail": str(why)}
            return {"failure": said} if do in ("look", "output") else {"outcome": "failure", **said}

    def read(self):
        for line in sys.stdin:
            try:
                r = json.loads(line)
                r["id"] + 0
            except (ValueError, TypeError, KeyError):
                print("not a request: %.80s" % line.strip(), file=sys.stderr)
                continue
            do = r.get("do")
            self.queues[do if do in ("look", "output") else "command"].put(r)


def supervise(beside, place):
    """Runs one job: waits for its start, ends it in time, and keeps how it ended."""
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    lock = open(os.path.join(beside, "lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    order = read(os.path.join(beside, "ask"))
    order["number"] = os.getpid()
    if "granted" in order:
        write(os.path.join(beside, "granted"), order["granted"])
    write(os.path.join(beside, "order"), order)
    os.rename(beside, place)  # fails if the name is there
    try:
        print("submitted", flush=True)
    except BrokenPipeError:  # whoever asked was killed; the job is there all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if "granted" in order:
        pilot(place, order, stop)
    else:
        work(place, order, stop)


def pilot(place, order, stop):
    """Holds nodes and idles, until it becomes the work of a job or leaves."""
    while not stop and not take(place, order):
        time.sleep(0.1)
    begun = read(os.path.join(place, "begun"))
    if begun is None:
        return
    while not os.path.exists(os.path.join(place, "go")):
        over = time.time() >= begun["at"] + min(read(os.path.join(place, "granted")), order["limit"]) - LEAVES
        if (stop or over) and made(os.path.join(place, "decided")):
            write(os.path.join(place, "left"), True)
            break
        time.sleep(0.05)
    else:
        made(os.path.join(place, "decided"))
        write(os.path.join(place, "going"), True)
        at = os.path.join(os.path.dirname(place), read(os.path.join(place, "go")))
        job = read(os.path.join(at, "order"))
        work(at, {**job, "end": min(job["end"], begun["at"] + order["limit"])}, stop)
    write(os.path.join(place, "result"), {"end": time.time(), "exit": 0, "signal": 0})


def take(place, order):
    """Takes nodes that no running job has; False if there are too few now."""
    top = os.path.dirname(place)
    with open(os.path.join(top, ".nodes"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = set()
        for name in os.listdir(top):
            begun = read(os.path.join(top, name, "begun")) if not name.startswith(".") else None
            if begun and not read(os.path.join(top, name, "result")) and locked(os.path.join(top, name)):
                busy.update(begun["nodes"])
        free = [n for n in order["all"] if n not in busy][:order["count"]]
        if len(free) < order["count"]:
            return False
        write(os.path.join(place, "begun"), {"at": time.time(), "nodes": free})
        return True


def work(place, order, stop):
    while time.time() < order["start"] and not stop:
        time.sleep(min(0.1, max(0, order["start"] - time.time())))
    if stop:
        return
    write(os.path.join(place, "begun"), {"at": time.time(), "nodes": order["nodes"]})
    env = {**{k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")}, **order["env"]}
    with open(os.path.join(place, "output"), "ab") as out:
        try:
            child = subprocess.Popen(order["command"], cwd=order["dir"] or place, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as why:
            out.write(("%s\n" % why).encode())
            child = None
    code, told = 127, None
    while child:
        code = child.poll()
        if code is not None:
            break
        if told is None and (stop or time.time() >= order["end"]):
            os.killpg(child.pid, signal.SIGTERM)
            told = time.time()
        if told is not None and time.time() > told + GRACE:
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(0.05)
    write(os.path.join(place, "result"), {"end": time.time(), "exit": code if code >= 0 else 128 - code, "signal": max(0, -code)})


def main(driver=Driver, machine=Machine):
    if sys.argv[1:2] == ["--supervise"]:
        return supervise(*sys.argv[2:])
    p = argparse.ArgumentParser()
    p.add_argument("--folder", required=True)
    p.add_argument("--nodes", type=int, default=4)
    a = p.parse_args()
    driver(machine(a.folder, a.nodes)).read()


if __name__ == "__main__":
    main()
