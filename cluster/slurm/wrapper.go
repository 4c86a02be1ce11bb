package slurm

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// noFolder is the exit status of a wrapper that cannot write to its folder.
const noFolder = 126

// wrapper is the script that Slurm runs for the work. It lets the work begin only once, tells
// it its window, lets it clean up when Slurm asks it to end, and keeps its exit status,
// which Slurm without accounting forgets after some minutes. here is the reservation's
// folder.
func wrapper(m agents.Command, here string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/sh")
	line("# Submitted by Bourse as %s.", m.Name)
	line("here=%s", quote(here))
	b.WriteString(`umask 022
if ! (set -C && printf 'job=%s\nbegin=%s\nnodes=%s\n' "$SLURM_JOB_ID" "$(date +%s)" "$SLURM_JOB_NODELIST" >"$here/begun") 2>/dev/null; then
  if [ -e "$here/begun" ]; then echo "this work has begun before; it does not begin again" >&2; exit 125; fi
  echo "cannot write to $here: the nodes must share this folder with the site" >&2
  exit 126
fi
finish() {
  printf 'exit=%s\nend=%s\n' "$1" "$(date +%s)" >"$here/exit.new" && mv "$here/exit.new" "$here/exit"
  exit "$1"
}
unset TZ LC_ALL SLURM_TIME_FORMAT
`)
	for _, list := range [][]bourse.EnvVar{m.Work.Work.Env, m.Work.Variables(m.Site, m.Nodes, m.Start, m.End)} {
		for _, v := range list {
			line("export %s=%s", v.Name, quote(v.Value))
		}
	}
	if m.Work.Work.Dir != "" {
		line("cd %s || finish 126", quote(m.Work.Work.Dir))
	} else {
		line(`cd "$here" || finish 126`)
	}
	to := ""
	if out := outputFile(m, here); out != "" {
		line("out=%s\n(: >\"$out\") || finish 126", quote(out))
		to = ` >>"$out" 2>&1`
	}
	if m.Work.Work.Script != "" {
		line(`set -- "$here/script"`)
	} else {
		args := make([]string, len(m.Work.Work.Command))
		for i, a := range m.Work.Work.Command {
			args[i] = quote(a)
		}
		line("set -- %s", strings.Join(args, " "))
	}
	// A signal ends wait before the work has ended, and the work may be gone by then. So it is waited for
	// until no signal has come between; 127 says that its status was had before.
	line("trap told=1 TERM\n\"$@\" </dev/null%s &", to)
	b.WriteString(`work=$! status=
while told=; wait "$work"; s=$?; [ "$s" = 127 ] && [ -n "$status" ] || status=$s; [ -n "$told" ]; do :; done
finish "$status"
`)
	return b.String()
}

// quote makes a shell take a text literally.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// outputFile is the file that the job names for its output; "" if it names none.
func outputFile(m agents.Command, here string) string {
	pattern := m.Work.Work.Output
	if pattern == "" {
		return ""
	}
	path := strings.NewReplacer("%j", m.Work.Job, "%l", strconv.Itoa(m.Work.Leg)).Replace(pattern)
	if m.Work.Work.Dir != "" {
		here = m.Work.Work.Dir
	}
	return filepath.Join(here, filepath.Join("/", path)) // it cannot lead out of the folder
}
