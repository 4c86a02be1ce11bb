package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs/kinds"
)

// resolves reports whether words after "bourse" begin with a command's path, all of them if
// whole.
func resolves(words string, whole bool) bool {
	cmd, rest, err := newRoot().Find(strings.Fields(words))
	return err == nil && cmd.HasParent() && (!whole || len(rest) == 0)
}

// A message or a help that names a command names one that exists, by its whole path.
func TestCommands_SignpostsLeadToACommand(t *testing.T) {
	t.Parallel()
	see := regexp.MustCompile(`bourse ((?:[a-z]+ )+)--help`)
	check := func(where, text string) {
		for _, m := range see.FindAllStringSubmatch(text, -1) {
			if !resolves(m[1], true) {
				t.Errorf("%s: %q is no command", where, m[0])
			}
		}
	}
	signposts := 0
	for _, c := range everyCommand(newRoot()) {
		if c.Args != nil && c.Runnable() {
			for _, args := range [][]string{nil, slices.Repeat([]string{"x"}, 9)} {
				if err := c.Args(c, args); err != nil {
					check(c.CommandPath(), err.Error())
					if strings.Contains(err.Error(), "--help") {
						signposts++
						if !strings.Contains(err.Error(), c.CommandPath()+" --help") {
							t.Errorf("%s %q: %v", c.CommandPath(), args, err)
						}
					}
				}
			}
		}
		check(c.CommandPath(), c.Long)
		c.Flags().VisitAll(func(f *pflag.Flag) { check(c.CommandPath()+" --"+f.Name, f.Usage) })
	}
	if signposts < 20 {
		t.Errorf("only %d messages with a signpost were seen", signposts)
	}
	for _, dir := range []string{".", "display", "examine", "file", "flags", "input", "operate", "run", "study", "use", "version", "../../process", "../../process/federation", "../../web", "../../web/client", "../../configs", "../../workload", "../../agents/certificate"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, "_test.go") {
				check(file, string(text))
			}
		}
	}
}

// ofEachKind writes a file of each kind.
func ofEachKind(t *testing.T) map[kinds.Kind]string {
	t.Helper()
	dir := t.TempDir()
	list := map[kinds.Kind]string{}
	for kind, file := range map[kinds.Kind]string{
		kinds.Scenario: "scenario.toml", kinds.SiteProcess: "site.toml", kinds.BrokerProcess: "broker.toml", kinds.Site: "snapshot.toml",
		kinds.Batch: "batch.toml", kinds.Sweep: "algorithms.toml",
	} {
		list[kind] = filepath.Join("..", "..", "docs", "examples", file)
	}
	for kind, text := range map[kinds.Kind]string{
		kinds.Problem: `{"slots": [], "jobs": []}`, kinds.Look: `{"at": 1760000000, "nodes": [], "jobs": []}`, kinds.Context: `{"broker": "https://10.0.0.5:7070"}`,
		kinds.Trace: "; MaxProcs: 4\n1 100 -1 50 2 -1 -1 2 40 -1 1 1 1 1 1 -1 -1 -1\n", kinds.Script: "#!/bin/sh\necho hi\n", kinds.PEM: "-----BEGIN CERTIFICATE-----\n", kinds.Packed: "\x1f\x8b\x08\x00",
	} {
		file := filepath.Join(dir, string(kind)+".file")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list[kind] = file
	}
	for kind, file := range list {
		if got := flags.KindOfFile(file); got != kind {
			t.Fatalf("%s is a %q, want %q", file, got, kind)
		}
	}
	return list
}

// A file of the wrong kind is answered with what it is and who takes it, in one line.
func TestCommands_SayWhatAFileOfAnotherKindIs(t *testing.T) {
	t.Parallel()
	files := ofEachKind(t)
	for _, c := range []struct {
		args  string
		takes []kinds.Kind
	}{
		{"simulate FILE", []kinds.Kind{kinds.Scenario}},
		{"sweep FILE", []kinds.Kind{kinds.Sweep}},
		{"quote FILE --nodes 1 --duration 1h", []kinds.Kind{kinds.Site, kinds.Look, kinds.Problem, kinds.Context}}, // JSON is read as a look
		{"site FILE", []kinds.Kind{kinds.SiteProcess}},
		{"journal verify FILE", []kinds.Kind{kinds.Journal}},
		{"journal show FILE", []kinds.Kind{kinds.Journal}},
		{"export FILE --to evalys", []kinds.Kind{kinds.Journal}},
		{"broker FILE", []kinds.Kind{kinds.BrokerProcess, kinds.Broker}},
		{"submit FILE", []kinds.Kind{kinds.Batch, kinds.Script, kinds.Trace, kinds.Packed}},
		{"search FILE", []kinds.Kind{kinds.Problem}},
		{"plan FILE", []kinds.Kind{kinds.Problem}},
		{"forecast FILE --nodes 1 --duration 1h", []kinds.Kind{kinds.Look}},
		{"sites --context FILE", []kinds.Kind{kinds.Context}},
		{"check FILE", []kinds.Kind{kinds.Scenario, kinds.SiteProcess, kinds.BrokerProcess, kinds.Site, kinds.Batch, kinds.Script, kinds.Sweep}},
	} {
		for kind, file := range files {
			if slices.Contains(c.takes, kind) {
				continue
			}
			args := strings.Fields(c.args)
			args[slices.Index(args, "FILE")] = file
			_, said, code := workloadCommand(args...)
			if code != 2 || !strings.Contains(said, "this is ") || strings.Count(said, "\n") > 1 {
				t.Errorf("%s with a %s: exit %d, %s", c.args, kind, code, said)
			}
			if by := kind.For(); !strings.Contains(said, by) {
				t.Errorf("%s with a %s does not say who takes it, %q: %s", c.args, kind, by, said)
			}
		}
	}
}

// A file where the folder of a run must be is answered with what must be there.
func TestCommands_SayWhichFolderMustBeThere(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "examples", "batch.toml")
	for args, want := range map[string]string{
		"report " + file:                                    "must be the folder of a run",
		"report " + t.TempDir() + " " + file:                "must be the folder of a run",
		"simulate --again " + file:                          "must be the folder of a run",
		"sweep merge --out " + t.TempDir() + "/o " + file:   "must be the folder of a part",
		"sweep merge --out " + t.TempDir() + "/o " + "none": "must be the folder of a part",
	} {
		if _, said, code := workloadCommand(strings.Fields(args)...); code != 2 || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %s", args, code, said)
		}
	}
}

// replay says which of its flags have no effect on a trace, and goes on.
func TestReplay_SaysWhichFlagsHaveNoEffect(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.swf")
	if err := os.WriteFile(file, []byte("1 0 0 50 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                       "",
		"--seed 1":               "",
		"--alpha 0.5":            "--alpha has no effect",
		"--seed 3":               "--seed has no effect",
		"--seed 3 --copy 0.5":    "",
		"--zone Europe/Berlin":   "--zone has no effect",
		"--zone UTC --copy 0.01": "",
	} {
		_, said, code := workloadCommand(strings.Fields("replay " + file + " --procs 8 " + args)...)
		if code != 0 || want == "" && strings.Contains(said, "no effect") || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %s", args, code, said)
		}
	}
}

// The words that a message lists are those that the flag takes, all of them.
func TestCommands_ListsOfWordsAreThoseTaken(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, c := range everyCommand(newRoot()) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			complete, ok := c.GetFlagCompletionFunc(f.Name)
			err := f.Value.Set("no-such-word")
			if !ok || err == nil || f.Value.Type() == "file" {
				return
			}
			words, _ := complete(c, nil, "")
			if len(words) == 0 || f.Value.Type() == "zone" || f.Value.Type() == "priority" {
				return // not a list alone
			}
			seen++
			for _, w := range words {
				w, _, _ = strings.Cut(w, "\t")
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s --%s takes %q, and does not say so: %v", c.CommandPath(), f.Name, w, err)
				}
				if e := f.Value.Set(strings.Replace(w, "=K", "=2", 1)); e != nil {
					t.Errorf("%s --%s lists %q and refuses it: %v", c.CommandPath(), f.Name, w, e)
				}
			}
		})
	}
	if seen < 15 {
		t.Errorf("only %d flags with words were seen", seen)
	}
}

// valueFor is a value that a flag takes.
func valueFor(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true"
	case "number":
		return "2"
	case "time", "duration":
		return "1h"
	case "price", "credits", "share":
		return "0.5"
	case "state":
		return "done"
	case "policy":
		return "easy"
	case "priority":
		return "last"
	case "size":
		return "1GiB"
	case "site=log":
		return "north=log.swf"
	}
	return "x"
}

// A flag that has no effect in a call is refused.
func TestCommands_FlagsWithoutEffectAreRefused(t *testing.T) {
	t.Parallel()
	arguments := map[string]string{"simulate": "", "sweep": "s.toml", "quote": "said_test.go --nodes 1 --duration 1h", "forecast": "said_test.go --nodes 1 --duration 1h", "convert": "a.swf b.swf", "replay": "a.swf", "submit": "b.toml",
		"jobs": "", "offers": "wave", "drain": "north", "maintenance": "north disks"}
	refused := map[string]bool{}
	for _, e := range effects {
		for _, flag := range e.flags {
			cmd, _, err := newRoot().Find(strings.Fields(e.command))
			if err != nil || cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no flag --%s", e.command, flag)
				continue
			}
			refused[e.command+" --"+flag] = true
			given := arguments[e.command]
			if slices.Contains(e.beside, "gather") {
				given = "" // it stands for them all
			}
			args := append(strings.Fields(e.command+" "+given), "--"+flag+"="+valueFor(cmd.Flags().Lookup(flag)))
			if len(e.beside) > 0 {
				args = append(args, "--"+e.beside[0]+"="+valueFor(cmd.Flags().Lookup(e.beside[0])))
			} else if e.command == "jobs" {
				args = append(args, "wave")
			}
			_, said, code := workloadCommand(args...)
			if code != 2 || !strings.Contains(said, "--"+flag+" has no effect") && !strings.Contains(said, "needs --") {
				t.Errorf("%q: exit %d, %s", args, code, said)
			}
		}
	}
	// A flag whose help says that it is for something else is refused without that.
	said := regexp.MustCompile(`^(its slurm.conf, with|with --|needs |for a trace|for a scenario|for kubernetes|continue the interrupted|run only the I-th|replace another run|longest time that --wait)|; needs --`)
	elsewhere := map[string]bool{"replay --half-life": true, "sweep --resume": true, "sweep --part": true, "study --figures": true, "sweep plan --image": true,
		"snapshot --conf": true} // it takes nothing else
	for _, flag := range ofShadow {
		elsewhere["site --"+flag] = true // TestSiteShadow_FollowsARecord: the site's file may say that it is one
	}
	for _, flag := range flagsForTraces(t) {
		elsewhere["submit --"+flag] = true // TestSubmit_FlagsOfTracesAreRefusedWithABatch
	}
	for _, c := range everyCommand(newRoot()) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			name := strings.TrimPrefix(c.CommandPath(), "bourse ") + " --" + f.Name
			if said.MatchString(f.Usage) && !refused[name] && !elsewhere[name] {
				t.Errorf("%s: %q, and it is not refused without that", name, f.Usage)
			}
		})
	}
	log := ofEachKind(t)[kinds.Trace]
	for args, want := range map[string]string{
		"modify wave --nodes 0":                   `--nodes "0": must be 1 to 1,000,000`,
		"modify wave --length 0s":                 "--length",
		"generate --procs 4 --jobs 3 --load 70":   "--load 70: must be above 0 and at most 10",
		"replay x.swf --days 0":                   "--days 0: must be above 0",
		"convert said_test.go y.toml --map run=A": "--map: a scenario reads",
		"convert LOG y.swf --map run=A":           "--map has no effect on ",
	} {
		if _, said, code := workloadCommand(strings.Fields(strings.Replace(args, "LOG", log, 1))...); want != "" && (code != 2 || !strings.Contains(said, want)) {
			t.Errorf("%s: exit %d, %s", args, code, said)
		}
	}
}

// flagsForTraces lists the flags of submit whose help says that they are for a trace.
func flagsForTraces(t *testing.T) (names []string) {
	t.Helper()
	cmd, _, err := newRoot().Find([]string{"submit"})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Usage, "for a trace") {
			names = append(names, f.Name)
		}
	})
	if len(names) < 3 {
		t.Errorf("only %q are for a trace", names)
	}
	return names
}

func TestSubmit_FlagsOfTracesAreRefusedWithABatch(t *testing.T) {
	t.Parallel()
	batch := filepath.Join("..", "..", "docs", "examples", "batch.toml")
	for _, flag := range flagsForTraces(t) {
		value := map[string]string{"max-jobs": "2", "skip": "1", "at-once": "true"}[flag]
		if _, said, code := workloadCommand("submit", batch, "--"+flag+"="+value); code != 2 || !strings.Contains(said, "--"+flag+": is for a trace and has no effect on a batch") {
			t.Errorf("--%s: exit %d, %s", flag, code, said)
		}
	}
}

// convert writes nothing that is of no use, and says which column lacks.
func TestConvert_NeverSucceedsWithNothingUsable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	sizeless := write("a.csv", "when,submit_time,run_time,width\n1,1614556800,60,4\n2,1614556800,50,8\n")
	for i, out := range []string{"out.swf", "out.gwf.gz", "out.toml"} {
		file := filepath.Join(dir, out)
		_, said, code := workloadCommand("convert", sizeless, file)
		if _, err := os.Stat(file); code != 2 || !strings.Contains(said, "--map nodes=COLUMN") || err == nil {
			t.Errorf("%d %s: exit %d, %s", i, out, code, said)
		}
	}
	if _, said, code := workloadCommand("convert", sizeless, "--split", filepath.Join(dir, "parts")); code != 2 {
		t.Errorf("--split: exit %d, %s", code, said)
	}
	out := filepath.Join(dir, "out.swf")
	said, messages, code := workloadCommand("convert", sizeless, out, "--map", "nodes=width")
	if text, _ := os.ReadFile(out); code != 0 || said != out+": 2 records\n" || !strings.Contains(string(text), "\n1 0 -1 60 4 ") {
		t.Errorf("exit %d, %s%s\n%s", code, said, messages, text)
	}
	if _, said, code := workloadCommand("replay", sizeless, "--procs", "8"); code != 2 || !strings.Contains(said, "no jobs are left of 2 records: no column says how many processors") {
		t.Errorf("replay: exit %d, %s", code, said)
	}
	look := write("look.json", `{"at": 1700000000, "source": "slurm 24.05.1", "nodes": [{"name": "n1", "state": "up", "partitions": ["main"]}], "jobs": [], "reservations": []}`)
	scenario := write("s.toml", "name = \"s\"\nuntil = \"1d\"\n[[site]]\nname = \"north\"\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n[site.workload]\ntrace = \"a.csv\"\n")
	broker := write("b.toml", "name = \"s\"\nuntil = \"1d\"\n[[site]]\nname = \"north\"\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n"+
		"[[broker]]\nname = \"vo\"\nbudget = 5.0\ncycle = \"1h\"\nhorizon = \"1d\"\n[broker.workload]\ntrace = \"a.csv\"\n")
	for _, args := range []string{"simulate " + scenario, "simulate " + broker, "forecast " + look + " --nodes 1 --duration 1h --history " + sizeless, "study forecast --trace " + sizeless} {
		if _, said, code := workloadCommand(strings.Fields(args)...); code != 2 || !strings.Contains(said, "no column says how many processors") || !strings.Contains(said, "bourse convert LOG OUT.swf --map nodes=COLUMN") {
			t.Errorf("%s: exit %d, %s", args, code, said)
		}
	}
	if _, said, code := workloadCommand("replay", write("log", "Submit,Start,End,NCPUS\n1614556800,1614556800,1614556860,4\n"), "--procs", "8"); code != 0 {
		t.Errorf("a table is known by what it holds: exit %d, %s", code, said)
	}
}
