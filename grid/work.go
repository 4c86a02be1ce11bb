package grid

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Work is what a job runs in its windows on a cluster with real nodes. Simulated clusters
// ignore it.
type Work struct {
	Command []string `json:"command,omitempty"` // a program and its arguments; or
	Script  string   `json:"script,omitempty"`  // a program's text, with its #! line; at most MaxScript bytes
	Env     []EnvVar `json:"env,omitempty"`     // by name
	Dir     string   `json:"dir,omitempty"`     // where it begins; "": where the cluster keeps its output
	// Output is where its output goes: a path with %j for the job and %l for the
	// leg, relative to Dir; "": where the cluster keeps it.
	Output string `json:"output,omitempty"`
	// Error is likewise where its standard error goes; "": where its output goes.
	Error string `json:"error,omitempty"`
	// Rendezvous asks for a meeting point at which the legs exchange their addresses. The
	// site of the first leg that has one serves it.
	Rendezvous bool `json:"rendezvous,omitempty"`
}

// String says how large the work is.
func (w *Work) String() string { return fmt.Sprintf("work of %d bytes", w.Size()) }

// EnvVar is one variable of a work's environment.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Bounds of a job's work.
const (
	MaxScript   = 64 << 10 // bytes of a script, or of a command with its arguments
	MaxEnv      = 256      // variables
	MaxEnvBytes = 64 << 10 // of their names and values
	MaxPath     = 1 << 10  // bytes of a path
	MaxTail     = 64 << 10 // bytes of its output that are handed on
	MaxNames    = 8 << 10  // nodes of a leg whose names are told to the others; of a larger leg none are

	MaxPeerNames = 16 << 10 // names that one leg is told; those beyond are left out
)

// Handover is the work of one leg, with what it must know about its window.
type Handover struct {
	Work  Work   `json:"work"`
	Job   string `json:"job"`
	User  string `json:"user,omitempty"` // of the VO
	Leg   int    `json:"leg"`            // from 0, in the order of the window's legs
	Legs  int    `json:"legs"`
	Peers []Peer `json:"peers,omitempty"` // the other legs
	// Meeting is the host:port of the rendezvous, and Token admits a leg to it; "": there
	// is none.
	Meeting string `json:"meeting,omitempty"`
	Token   string `json:"token,omitempty"`

	// Of a job with parts: the part that the leg carries, and the part of each leg of the
	// window, leg by leg.
	Part  string   `json:"part,omitempty"`
	Parts []string `json:"parts,omitempty"`
}

// String says whose work this is.
func (h *Handover) String() string {
	return fmt.Sprintf("part %d of %d of %s for %q", h.Leg, h.Legs, h.Job, h.User)
}

// Peer is another leg of the same window.
type Peer struct {
	Site  string   `json:"site"`
	Nodes []string `json:"nodes,omitempty"` // names; nil where they are simulated
}

// WorkResult is the outcome of a leg's work. Fields that could not be determined are zero.
type WorkResult struct {
	Begin  Time   `json:"begin,omitempty"`
	End    Time   `json:"end,omitempty"`
	Exit   int    `json:"exit,omitempty"`   // the exit status; after a signal, 128 plus its number
	Signal int    `json:"signal,omitempty"` // the signal that ended it
	Known  bool   `json:"known,omitempty"`  // Exit is known
	Output string `json:"output,omitempty"` // the file on the cluster
	Kept   Time   `json:"kept,omitempty"`   // until then its output and the files of its folder can be read
	// Ended says why it ended if not by itself: at its window's end, cancelled,
	// preempted.
	Ended Reason `json:"ended,omitzero"`
}

// String says how the work went.
func (x *WorkResult) String() string {
	return fmt.Sprintf("ran from %v to %v, status %d", x.Begin, x.End, x.Exit)
}

// Words says how the work ended, worded to end a sentence; "" if there was no work.
func (x *WorkResult) Words() Phrase {
	if x == nil {
		return ""
	}
	words := x.how()
	switch {
	case words != "":
	case x.Known:
		words = Say(" with exit 0")
	case x.Ended.Code != Expired:
		words = Say(", exit status not known")
	}
	if x.Ended.Refused() {
		words += Say(", %v", x.Ended)
	}
	return words
}

// how says by which signal or status other than 0 the work ended, "" if by none that is known.
func (x *WorkResult) how() Phrase {
	switch {
	case x.Signal != 0:
		return Say(" by signal %d", x.Signal)
	case x.Known && x.Exit != 0:
		return Say(" with exit %d", x.Exit)
	}
	return ""
}

// WorkKey says what is wrong with a work: which key of a batch file, and why.
type WorkKey struct {
	Key string
	Err error
}

// Check says what makes no sense in a work, or returns nil if it can be run.
func (w *Work) Check() *WorkKey {
	for _, check := range []func() *WorkKey{w.checkProgram, w.checkEnv, w.checkPlace} {
		if wrong := check(); wrong != nil {
			return wrong
		}
	}
	return nil
}

func wrongKey(key, format string, args ...any) *WorkKey {
	return &WorkKey{key, fmt.Errorf(format, args...)}
}

// checkProgram checks what is run.
func (w *Work) checkProgram() *WorkKey {
	size := 0
	for _, arg := range w.Command {
		if !runnable(arg) {
			return wrongKey("command", "%q has a NUL character or is no UTF-8, which no program takes", brief(arg))
		}
		size += len(arg) + 1
	}
	switch {
	case w.Command != nil && w.Script != "":
		return wrongKey("command", "stands beside script; a job runs one of them")
	case w.Command == nil && w.Script == "":
		return wrongKey("command", "missing; name a program with its arguments, or a script")
	case w.Script == "" && (len(w.Command) == 0 || w.Command[0] == ""):
		return wrongKey("command", "names no program")
	case size > MaxScript:
		return wrongKey("command", "has %d bytes, at most %d are taken; put what is longer into a file on the cluster", size, MaxScript)
	case len(w.Script) > MaxScript:
		return wrongKey("script", "has %d bytes, at most %d are taken; have it call what is longer on the cluster", len(w.Script), MaxScript)
	case w.Script != "" && !strings.HasPrefix(w.Script, "#!"):
		return wrongKey("script", "does not begin with #! and the program that runs it, such as #!/bin/sh")
	case !runnable(w.Script):
		return wrongKey("script", "has a NUL character or is no UTF-8; it must be text")
	}
	return nil
}

func runnable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// checkEnv checks the environment.
func (w *Work) checkEnv() *WorkKey {
	if len(w.Env) > MaxEnv {
		return wrongKey("env", "has %d variables, at most %d are taken", len(w.Env), MaxEnv)
	}
	size := 0
	for i, v := range w.Env {
		switch {
		case !variable(v.Name):
			return wrongKey("env", "%q is no name of a variable: letters, digits and _, not a digit first", brief(v.Name))
		case strings.HasPrefix(v.Name, "BOURSE_"):
			return wrongKey("env", "%s is set by the cluster, as is all that begins with BOURSE_; choose another name", v.Name)
		case i > 0 && w.Env[i-1].Name >= v.Name:
			return wrongKey("env", "%s stands there twice, or not in order", v.Name)
		case !runnable(v.Value):
			return wrongKey("env", "the value of %s has a NUL character or is no UTF-8, which no program takes", v.Name)
		}
		size += len(v.Name) + len(v.Value) + 2
	}
	if size > MaxEnvBytes {
		return wrongKey("env", "has %d bytes, at most %d are taken", size, MaxEnvBytes)
	}
	return nil
}

func variable(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && !(c|0x20 >= 'a' && c|0x20 <= 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// checkPlace checks where the work begins, and where its output goes.
func (w *Work) checkPlace() *WorkKey {
	for _, p := range []struct{ key, path string }{{"workdir", w.Dir}, {"output", w.Output}, {"error", w.Error}} {
		if err := CheckText(p.path); err != nil {
			return &WorkKey{p.key, err}
		}
		if len(p.path) > MaxPath {
			return wrongKey(p.key, "has %d bytes, at most %d are taken", len(p.path), MaxPath)
		}
	}
	if w.Dir != "" && w.Dir[0] != '/' {
		return wrongKey("workdir", "%q is not absolute; a relative one has no meaning on a cluster", w.Dir)
	}
	if wrong := checkFile("output", w.Output); wrong != nil {
		return wrong
	}
	if w.Error != "" && w.Error == w.Output {
		return wrongKey("error", "%q is the file of output too; leave it out, and both go there", w.Error)
	}
	return checkFile("error", w.Error)
}

// checkFile checks the name of a file for what work prints; "" names none.
func checkFile(key, name string) *WorkKey {
	parts := strings.Split(name, "/")
	last := parts[len(parts)-1]
	switch {
	case name == "":
		return nil
	case parts[0] == "" || slices.Contains(parts, ".."):
		return wrongKey(key, "%q leaves the folder that the work begins in; name a file in it or below, and choose that by workdir", name)
	case last == "" || last == ".":
		return wrongKey(key, "%q is a folder; must be the name of a file", name)
	}
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			continue
		}
		if i++; i == len(name) || name[i] != 'j' && name[i] != 'l' {
			return wrongKey(key, "%q: after %% there must be j for the job or l for the leg", name)
		}
	}
	return nil
}

// Size is the approximate size of a work in bytes; 0 for nil.
func (w *Work) Size() int {
	if w == nil {
		return 0
	}
	n := len(w.Script) + len(w.Dir) + len(w.Output) + len(w.Error)
	for _, arg := range w.Command {
		n += len(arg) + 1
	}
	for _, v := range w.Env {
		n += len(v.Name) + len(v.Value) + 2
	}
	return n
}

// Same reports whether two works are equal; either may be nil.
func (w *Work) Same(o *Work) bool {
	if w == nil || o == nil {
		return w == o
	}
	return slices.Equal(w.Command, o.Command) && w.Script == o.Script && slices.Equal(w.Env, o.Env) &&
		w.Dir == o.Dir && w.Output == o.Output && w.Error == o.Error && w.Rendezvous == o.Rendezvous
}
