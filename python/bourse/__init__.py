"""Schedulers and learners for Bourse, in Python. Python 3.9 or later, nothing else.

run(policy)          a policy as a program: bourse replay LOG --scheduler 'python3 my.py'
choose(policy)       a broker's windows, chosen by a program: chooser = ["python3", "my.py"]
Env, VectorEnv       a log as an environment for learning, with gymnasium's methods
read_jobs(csv)       the rows that bourse replay --jobs-out wrote

The lines that go to and fro are documented in docs/SCHEDULERS.md.
"""

from .cycle import Cycle, choose
from .env import Env, VectorEnv
from .jobs import Done, read_jobs
from .lines import BourseError
from .site import Job, Site, run

__all__ = ["BourseError", "Cycle", "Done", "Env", "Job", "Site", "VectorEnv", "choose", "read_jobs", "run"]
