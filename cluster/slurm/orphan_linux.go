package slurm

import "syscall"

// EndWithUs says whether commands end with the process that gives them, however that ends.
const EndWithUs = true

// tie has a command end when the thread that starts it does.
func tie(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
