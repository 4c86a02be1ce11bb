package slurm

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// noFolder is the exit status of a wrapper that cannot write to its folder.
const noFolder = 126

// wrapper is the script that Slurm runs for the work. It lets the work begin only once, tells
// it its window, lets it clean up when Slurm asks it to end, and keeps its exit status,
// which Slurm without accounting forgets after some minutes. here is the reservation's
// folder.
//
// The job's environment is given to the work alone, by env. The script never has it: there a
// variable of the job could be one of the script's own, such as the folder or the path of its
// tools, or one that the shell keeps to itself. The names of the script's variables begin
// with bourse_ all the same, and its tools have absolute paths, because the environment of
// slurmd is not ours either.
func wrapper(m agents.Command, here string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/sh")
	line("# Submitted by Bourse as %s.", m.Name)
	line("bourse_here=%s", quote(here))
	b.WriteString(`umask 022
bourse_find() {
  for bourse_tool in "/usr/bin/$1" "/bin/$1" "/usr/local/bin/$1"; do [ -x "$bourse_tool" ] && return; done
  bourse_tool=$1
}
bourse_find date; bourse_date=$bourse_tool
bourse_find mv; bourse_mv=$bourse_tool
bourse_find env; bourse_env=$bourse_tool
if ! (set -C && printf 'job=%s\nbegin=%s\nnodes=%s\n' "$SLURM_JOB_ID" "$("$bourse_date" +%s)" "$SLURM_JOB_NODELIST" >"$bourse_here/begun") 2>/dev/null; then
  if [ -e "$bourse_here/begun" ]; then echo "this work has begun before; it does not begin again" >&2; exit 125; fi
  echo "cannot write to $bourse_here: the nodes must share this folder with the site" >&2
  exit 126
fi
bourse_finish() {
  printf 'exit=%s\nend=%s\n' "$1" "$("$bourse_date" +%s)" >"$bourse_here/exit.new" && "$bourse_mv" "$bourse_here/exit.new" "$bourse_here/exit"
  exit "$1"
}
unset TZ LC_ALL SLURM_TIME_FORMAT
`)
	if m.Work.Work.Dir != "" {
		line("cd %s || bourse_finish 126", quote(m.Work.Work.Dir))
	} else {
		line(`cd "$bourse_here" || bourse_finish 126`)
	}
	out, errs := outputFile(m, here), errorFile(m, here)
	to := ""
	for _, file := range []string{out, errs} {
		if file != "" {
			line("(: >%s) || bourse_finish 126", quote(file))
		}
	}
	if out != "" {
		to = " >>" + quote(out)
	}
	switch {
	case errs != "":
		to += " 2>>" + quote(errs)
	case out != "":
		to += " 2>&1"
	}
	line("set -- %s", strings.Join(program(m, here), " "))
	// A signal ends wait before the work has ended, and the work may be gone by then. So it is waited for
	// until no signal has come between; 127 says that its status was had before.
	line("trap bourse_told=1 TERM\n\"$bourse_env\" \"$@\" </dev/null%s &", to)
	b.WriteString(`bourse_work=$! bourse_status=
while bourse_told=; wait "$bourse_work"; bourse_s=$?; [ "$bourse_s" = 127 ] && [ -n "$bourse_status" ] || bourse_status=$bourse_s; [ -n "$bourse_told" ]; do :; done
bourse_finish "$bourse_status"
`)
	return b.String()
}

// program lists the arguments of env that run the work in its environment, quoted.
func program(m agents.Command, here string) (args []string) {
	for _, list := range [][]grid.EnvVar{m.Work.Work.Env, m.Work.Variables(m.Site, m.Nodes, m.Start, m.End), m.Part.Variables()} {
		for _, v := range list {
			args = append(args, quote(v.Name+"="+v.Value))
		}
	}
	run := m.Work.Work.Command
	if m.Work.Work.Script != "" {
		run = []string{here + "/script"}
	}
	if strings.Contains(run[0], "=") { // env would take it for a variable
		args = append(args, "/bin/sh", "-c", quote(`exec "$0" "$@"`))
	}
	for _, a := range run {
		args = append(args, quote(a))
	}
	return args
}

// quote makes a shell take a text literally.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// outputFile is the file that the job names for its output; "" if it names none.
func outputFile(m agents.Command, here string) string {
	return namedFile(m, here, m.Work.Work.Output)
}

// errorFile is the file that the job names for its standard error; "" if it names none.
func errorFile(m agents.Command, here string) string {
	return namedFile(m, here, m.Work.Work.Error)
}

// namedFile is the file that a job names by a pattern; "" if that is empty.
func namedFile(m agents.Command, here, pattern string) string {
	if pattern == "" {
		return ""
	}
	path := strings.NewReplacer("%j", m.Work.Job, "%l", strconv.Itoa(m.Work.Leg)).Replace(pattern)
	if m.Work.Work.Dir != "" {
		here = m.Work.Work.Dir
	}
	return filepath.Join(here, filepath.Join("/", path)) // it cannot lead out of the folder
}
