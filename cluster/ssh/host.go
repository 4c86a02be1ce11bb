// Package ssh runs shell scripts on another machine by the system's own ssh, with the user's
// configuration and keys. It asks for no password and weakens no check of a host's key. A call
// is one script on the standard input of sh, so that nothing of it stands on a command line
// there, and its answer lies between marks that are drawn for that call: what the shell of the
// account prints besides is ignored, and an answer that is cut off is known to be. It follows
// "Drivers", kind = "slurm" over ssh.
//
// The package never repeats a call. Of one that has failed it is not known what was done.
package ssh

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Bounds of a call.
const (
	DefaultLimit = 30 * time.Second
	maxPrinted   = 128 << 20 // of standard output: some 25,000 jobs of squeue --json
	maxComplaint = 64 << 10  // of standard error
	maxScript    = 8 << 20   // of a call's script with all that it carries
	// maxSocket is how long the path of a connection's socket may be. Systems take 103 bytes or
	// more, and ssh adds 17 while it makes the socket.
	maxSocket = 86
)

// Host is an account on another machine, or the shell of this one.
type Host struct {
	// Destination is what ssh takes, such as "ana@login.north.example"; "": the shell of this
	// machine, without ssh.
	Destination string
	// Control is a folder of mode 700 for the socket of the connection, made if it is not there.
	Control string
	// Login is the command that opens the connection by hand, for messages.
	Login string

	Program string // "": the ssh on the PATH

	most int // what a call may print; 0: maxPrinted
}

// CheckDestination says what is wrong with a destination.
func CheckDestination(s string) error {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.@-:%[]", r))
	}
	if s == "" || len(s) > 255 || s[0] == '-' || strings.ContainsFunc(s, odd) {
		return fmt.Errorf("%q: must be a destination as ssh takes it, such as ana@login.north.example, or a Host of your ssh configuration", s)
	}
	return nil
}

// Step is one part of a call's script.
type Step struct {
	Name  string // of small letters
	Shell string // run in a shell of its own, without input
}

// Part is what a step has printed, and its exit status.
type Part struct {
	Out, Errs []byte
	Exit      int
}

// Answer is what a call has brought.
type Answer struct {
	Parts      map[string]Part
	Begun, End time.Time // of the call, by this machine's clock
}

// Call runs the steps one after the other in one shell, whatever becomes of each, within a
// limit (0: DefaultLimit). If its error is not nil, it is not known what was done. The error of
// the connection is an *Error.
func (h *Host) Call(ctx context.Context, limit time.Duration, steps ...Step) (*Answer, error) {
	if limit == 0 {
		limit = DefaultLimit
	}
	mark := "bourse-" + rand.Text()
	text := script(mark, steps)
	if len(text) > maxScript {
		return nil, fmt.Errorf("what is to be sent to %s has %d bytes; must be at most %d", h.words(), len(text), maxScript)
	}
	args, err := h.arguments("BatchMode=yes")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], "sh -s")...)
	if h.Destination == "" {
		cmd = exec.CommandContext(ctx, "/bin/sh", "-s")
	}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(text)
	out, errs := &bounded{most: cmp.Or(h.most, maxPrinted), full: cancel}, &bounded{most: maxComplaint}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second // a connection that stays may hold the pipes open
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	a := &Answer{Begun: time.Now()}
	failed := cmd.Run()
	a.End = time.Now()
	if out.over {
		return nil, &Error{Words: fmt.Sprintf("%s printed more than %d MiB in one call", h.words(), out.most>>20)}
	}
	var whole bool
	if a.Parts, whole = parse(mark, steps, out.b.Bytes(), errs.b.Bytes()); whole {
		return a, nil
	}
	return nil, h.failure(ctx, failed, limit, errs.b.String())
}

// Open opens the connection in the foreground, with ssh's questions on a terminal. It stays open
// for ten minutes after its last use.
func (h *Host) Open(ctx context.Context, in io.Reader, out, errs io.Writer) error {
	args, err := h.arguments("")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], "true")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("no connection to %s: %w", h.Destination, err)
	}
	return nil
}

// arguments is the command line of ssh up to what it runs there.
func (h *Host) arguments(batch string) ([]string, error) {
	if h.Destination == "" {
		return []string{"/bin/sh"}, nil
	}
	if err := CheckDestination(h.Destination); err != nil {
		return nil, err
	}
	socket, err := h.socket()
	if err != nil {
		return nil, err
	}
	args := []string{cmp.Or(h.Program, "ssh"), "-T"}
	for _, o := range []string{batch, "ControlMaster=auto", "ControlPersist=10m", "ControlPath=" + socket, "ConnectTimeout=10", "ServerAliveInterval=15"} {
		if o != "" {
			args = append(args, "-o", o)
		}
	}
	return append(args, "--", h.Destination), nil
}

// socket is the path of the connection's socket, in a folder that is ours alone.
func (h *Host) socket() (string, error) {
	dir, err := filepath.Abs(h.Control)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the folder for the connection to %s: %w", h.Destination, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || stat == nil || int(stat.Uid) != os.Geteuid() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("folder %s must be of mode 700 and belong to the account that the site runs as: through its socket anybody could act as %s. Remove it, and it is made again", dir, h.Destination)
	}
	path := filepath.Join(dir, brief(h.Destination))
	if len(path) > maxSocket || strings.ContainsAny(path, "%\"\\ ") {
		return "", fmt.Errorf("%s cannot be the path of a connection's socket: must have at most %d bytes, and no space or %%; keep the site's file in a folder with a shorter path", path, maxSocket)
	}
	return path, nil
}

func (h *Host) words() string {
	if h.Destination == "" {
		return "the shell of this machine"
	}
	return h.Destination
}

// Error is a call that brought no whole answer.
type Error struct {
	Words string
	// Login: the connection must be opened by hand.
	Login bool
}

// Error says what happened, and the remedy if there is one.
func (e *Error) Error() string { return e.Words }

// NeedsLogin reports whether an error is that of a connection that must be opened by hand.
func NeedsLogin(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Login
}

// noConnection is the exit status of ssh itself.
const noConnection = 255

// failure says why a call brought no whole answer.
func (h *Host) failure(ctx context.Context, failed error, limit time.Duration, said string) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(failed, exec.ErrNotFound):
		return &Error{Words: "there is no ssh on the PATH; install OpenSSH's client"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Words: fmt.Sprintf("no answer from %s in %v", h.words(), limit)}
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(failed, &exit) && exit.ExitCode() == noConnection:
		return h.refused(said)
	case failed != nil && !errors.As(failed, &exit) && !errors.Is(failed, exec.ErrWaitDelay):
		return fmt.Errorf("%s: %w", h.words(), failed)
	}
	if last := lastLine(said); last != "" {
		return &Error{Words: fmt.Sprintf("the answer of %s was cut off; it last said: %s", h.words(), last)}
	}
	return &Error{Words: fmt.Sprintf("the answer of %s was cut off", h.words())}
}

// refused says why there is no connection, by what ssh has written.
func (h *Host) refused(said string) error {
	last := lastLine(said)
	if strings.Contains(said, "REMOTE HOST IDENTIFICATION HAS CHANGED") {
		return &Error{Words: fmt.Sprintf("the host key of %s has changed, so nothing is sent there: either the centre has a new one, or somebody is in between. Ask the centre; if it is right, remove the old one with ssh-keygen -R HOST", h.Destination)}
	}
	for _, text := range []string{"Host key verification failed", "Permission denied", "Too many authentication failures", "No more authentication methods", "keyboard-interactive"} {
		if strings.Contains(said, text) {
			return &Error{Login: true, Words: fmt.Sprintf("needs login: %s opens the connection to %s (ssh says: %s)", h.Login, h.Destination, last)}
		}
	}
	if last == "" {
		last = "ssh gives no reason"
	}
	return &Error{Words: fmt.Sprintf("no connection to %s: %s", h.Destination, last)}
}
