"""The sample driver with one mistake: broken.py DRIVER.py MISTAKE --folder DIR --nodes N."""
import importlib.util
import sys
import threading
import time

spec = importlib.util.spec_from_file_location("driver", sys.argv[1])
sample = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sample)
mistake = sys.argv[2]
del sys.argv[1:3]


class Machine(sample.Machine):
    mine = set()

    def place(self, name):
        if mistake != "twice":
            return super().place(name)
        k = 0  # each submission has a place of its own, as a manager gives each a number
        while sample.os.path.exists(super().place("%s~%d" % (name, k))):
            k += 1
        return super().place("%s~%d" % (name, k if self.submitting else max(0, k - 1)))

    submitting = False

    def run(self, r):
        if mistake == "soon":
            threading.Thread(target=lambda: (time.sleep(2), sample.Machine.run(self, r)), daemon=True).start()
            return {"outcome": "done"}
        self.mine.add(r["name"])
        self.submitting = True
        try:
            return super().run(r)
        finally:
            self.submitting = False

    def claim(self, r):
        return super().claim({**r, "grant": 600} if mistake == "overstay" else r)

    def grant(self, r):
        if mistake == "shrink":
            sample.write(sample.os.path.join(self.place(r["name"]), "granted"), r["seconds"])
            return {"outcome": "done"}
        return super().grant(r)

    def run_in(self, order, pilot, script):
        if mistake == "eager":
            order = {**order, "start": time.time()}
        try:
            return super().run_in(order, pilot, script)
        except sample.Denied:
            if mistake == "undead":
                return {"outcome": "done"}
            raise

    def look(self, r):
        if mistake == "silent":
            time.sleep(3600)
        answer = super().look(r)
        if mistake == "adrift":
            answer["look"]["at"] -= 3600
        for j in answer["look"]["jobs"]:
            if mistake == "overstay" and "granted" in j:
                j["granted"] = 8
        if mistake == "remember":
            answer["look"]["jobs"] = [j for j in answer["look"]["jobs"] if j["name"] in self.mine]
        if mistake == "hide":
            answer["look"]["jobs"] = [j for j in answer["look"]["jobs"] if j["state"] in ("ended", "lost")]
        return answer


    def delete(self, r):
        if mistake == "greedy":
            for name in sample.os.listdir(self.folder):
                if name.startswith(r["name"]):
                    super().delete({"name": name})
        return super().delete(r)


class Driver(sample.Driver):
    def answer(self, r):
        if mistake == "noise":
            with self.out:
                print("submitting to the cluster, please wait", flush=True)
        return super().answer(r)


sample.main(Driver, Machine)
