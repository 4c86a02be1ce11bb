package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/cluster/ssh"
)

// Commands runs Slurm's commands against one cluster.
type Commands struct {
	Conf   string        // its slurm.conf; "": the default of this machine
	Folder string        // of the commands; "": they are on the PATH
	Limit  time.Duration // of each call; 0: 30 s
	// Shell is where the commands are run, in a shell of the account that it belongs to; nil: by
	// this process.
	Shell *ssh.Host
}

// The bounds of a call.
const (
	callLimit = 30 * time.Second
	// maxPrinted is how much a command may print: about 100,000 jobs of squeue --json.
	maxPrinted  = 512 << 20
	maxComplain = 16 << 10 // of stderr
)

// Failed is a command that did not exit with 0.
type Failed struct {
	Command string // its name and first argument
	Text    string // what it wrote to stderr, without the prefixes
	Late    bool   // it was killed for taking too long: what it did is not known
	Missing bool   // there is no such program
	Exit    int
}

// Error is what Slurm said.
func (f *Failed) Error() string {
	switch {
	case f.Missing:
		return fmt.Sprintf("%s: not found; install Slurm's commands or put their folder on the PATH", f.Command)
	case f.Late:
		return fmt.Sprintf("%s took too long", f.Command)
	case f.Text == "":
		return fmt.Sprintf("%s: exit status %d", f.Command, f.Exit)
	}
	return fmt.Sprintf("%s: %s", f.Command, f.Text)
}

// Run runs one command and returns what it printed. The error is a *Failed if the command
// itself failed.
func (c Commands) Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	return c.run(ctx, nil, "", name, args...)
}

// run runs a command with an input, as another account; nil: as our own.
func (c Commands) run(ctx context.Context, as *account, input, name string, args ...string) ([]byte, error) {
	if c.Shell != nil {
		return c.runAfar(ctx, input, name, args)
	}
	limit := cmp.Or(c.Limit, callLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path := name
	if c.Folder != "" && !filepath.IsAbs(name) {
		path = filepath.Join(c.Folder, name)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = c.environment()
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(input)
	out, complain := &bounded{most: maxPrinted}, &bounded{most: maxComplain}
	cmd.Stdout, cmd.Stderr = out, complain
	cmd.WaitDelay = time.Second
	// A process group of its own, so that nothing outlives the call.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tie(cmd.SysProcAttr)
	runtime.LockOSThread() // which must not end before the command does
	defer runtime.UnlockOSThread()
	if as != nil {
		cmd.Env = append(cmd.Env, "HOME="+as.home, "USER="+as.name, "LOGNAME="+as.name)
		if as.other {
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid, Groups: as.groups}
		}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	said := name
	if len(args) > 0 {
		said += " " + args[0]
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return nil, &Failed{Command: said, Missing: true}
	case ctx.Err() != nil:
		return nil, &Failed{Command: said, Late: true}
	case errors.As(err, &exit):
		text := complain.b.Bytes()
		if len(text) == 0 { // scontrol show says it on stdout
			text = out.b.Bytes()[:min(out.b.Len(), maxComplain)]
		}
		return nil, &Failed{Command: said, Text: words(string(text)), Exit: exit.ExitCode()}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", said, err)
	case out.over:
		return nil, fmt.Errorf("%s printed more than %d MiB", said, maxPrinted>>20)
	}
	return out.b.Bytes(), nil
}

// environment is the environment of every call: times in seconds, English messages, and no
// SLURM_ or SBATCH_ variable that would change the meaning of an option.
func (c Commands) environment() []string {
	env := make([]string, 0, 16)
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); {
		case name == "SLURM_CONF" && c.Conf == "", name == "PATH", name == "LD_LIBRARY_PATH":
			env = append(env, v)
		}
	}
	if c.Conf != "" {
		env = append(env, "SLURM_CONF="+c.Conf)
	}
	return append(env, "SLURM_TIME_FORMAT=%s", "TZ=UTC", "LC_ALL=C")
}

// words is the text of an error on one line, without the names of the programs.
func words(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if who, rest, ok := strings.Cut(line, ": "); ok && !strings.Contains(who, " ") {
			line = rest
		}
		line = strings.TrimPrefix(line, "error: ")
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// bounded keeps the first bytes that are written to it, and drops the rest.
type bounded struct {
	b    bytes.Buffer
	most int
	over bool
}

func (w *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if left := w.most - w.b.Len(); n > left {
		p, w.over = p[:left], true
	}
	w.b.Write(p)
	return n, nil
}
