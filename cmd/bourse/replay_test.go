package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
)

// tiny is a trace of four processors: a job that runs past its estimate, one
// that waits behind it, one that overtakes, one that never ran, one too large.
const tiny = `; MaxProcs: 4
1 100 -1 50 2 -1 -1 2 40 -1 1 1 1 1 1 -1 -1 -1
2 101 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1
3 102 -1 5 2 -1 -1 2 8 -1 1 1 1 1 1 -1 -1 -1
4 103 -1 -1 1 -1 -1 1 8 -1 0 1 1 1 1 -1 -1 -1
5 104 -1 5 5 -1 -1 5 8 -1 1 1 1 1 1 -1 -1 -1
`

func replayTiny(t *testing.T, args ...string) (out, messages string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tiny.swf")
	if err := os.WriteFile(file, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := newRoot()
	var o, m bytes.Buffer
	cmd.SetOut(&o)
	cmd.SetErr(&m)
	cmd.SetArgs(append([]string{"replay", file}, args...))
	err = cmd.Execute()
	return o.String(), m.String(), err
}

func TestReplay_JobsOutHasARowForEachJobThatRan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--policy=easy", "1,100,100,140,2,40,immediate\n2,101,140,150,4,10,reserved\n3,102,102,107,2,8,backfilled\n"},
		{"--policy=fcfs", "1,100,100,140,2,40,immediate\n2,101,140,150,4,10,reserved\n3,102,150,155,2,8,reserved\n"},
		{"--overrun=extend", "1,100,100,150,2,40,immediate\n2,101,150,160,4,10,reserved\n3,102,102,107,2,8,backfilled\n"},
		{"--never-ran=zero", "1,100,100,140,2,40,immediate\n2,101,140,150,4,10,reserved\n3,102,102,107,2,8,backfilled\n4,103,107,107,1,8,backfilled\n"},
		{"--days=0.0000232", "1,100,100,140,2,40,immediate\n2,101,140,150,4,10,reserved\n3,102,102,107,2,8,backfilled\n"},
		{"--days=0.00002", "1,100,100,140,2,40,immediate\n2,101,140,150,4,10,reserved\n"},
		{"--skip=1", "2,101,101,111,4,10,immediate\n3,102,111,116,2,8,reserved\n"},
	} {
		file := filepath.Join(t.TempDir(), "jobs.csv")
		if _, _, err := replayTiny(t, "--procs=4", "--jobs-out="+file, c.args); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := "job,submit,start,end,procs,estimate,kind\n" + c.want; string(got) != want {
			t.Errorf("%s:\n%s, want\n%s", c.args, got, want)
		}
	}
}

func TestReplay_JSONHasTheContractsKeys(t *testing.T) {
	t.Parallel()
	out, messages, err := replayTiny(t, "--procs=4", "--json", "--timing", "--reservations=0.5")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("jobs meanWait boundedSlowdown utilisation makespan simulatedPerSecond " +
		"reservations meanPriceSU shareFree shareBelowHighPriority reservationWait localWait") {
		if _, ok := got[key]; !ok {
			t.Errorf("no %q in %s", key, out)
		}
	}
	for _, word := range []string{"1 jobs never ran: dropped", "1 jobs refused: they need more than 4 processors"} {
		if !strings.Contains(messages, word) {
			t.Errorf("messages lack %q: %s", word, messages)
		}
	}
}

// The log's figures for the same jobs are shown beside those of the replay, whether the
// trace is streamed or read whole. A trace without waits has no such lines.
func TestReplay_WaitsOfTheLogStandBeside(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "log.swf")
	lines := "1 0 30 60 1 -1 -1 1 60 -1 1 7 -1 -1 -1 -1 -1 -1\n2 10 -1 60 1 -1 -1 1 60 -1 1 7 -1 -1 -1 -1 -1 -1\n3 10 90 60 1 -1 -1 1 60 -1 1 7 -1 -1 -1 -1 -1 -1\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--timing"}} { // --timing reads the whole trace first
		out, _, err := runCommand(t.Context(), append([]string{"replay", file, "--procs", "1", "--json"}, flags...)...)
		var got struct {
			MeanWait float64
			Log      *struct {
				Jobs                      int
				MeanWait, BoundedSlowdown float64
			}
		}
		if err != nil || json.Unmarshal([]byte(out), &got) != nil || got.Log == nil {
			t.Fatal(err, out)
		}
		if got.MeanWait != 160.0/3 || got.Log.Jobs != 2 || got.Log.MeanWait != 60 || got.Log.BoundedSlowdown != 2 {
			t.Errorf("%v: %s", flags, out)
		}
	}
	out, _, err := runCommand(t.Context(), "replay", file, "--procs", "1")
	if err != nil || !strings.Contains(out, "  in the log             0.02 h\n") || !strings.Contains(out, "which knows          2 waits\n") {
		t.Error(err, out)
	}
	mute := strings.NewReplacer(" 30 60 ", " -1 60 ", " 90 60 ", " -1 60 ").Replace(lines)
	if err := os.WriteFile(file, []byte(mute), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, err := runCommand(t.Context(), "replay", file, "--procs", "1"); err != nil || strings.Contains(out, "log") {
		t.Error(err, out)
	}
}

func TestReplay_TheHeaderSaysHowManyProcessorsThereAre(t *testing.T) {
	t.Parallel()
	with, _, err := replayTiny(t, "--procs=4", "--json")
	if err != nil {
		t.Fatal(err)
	}
	without, messages, err := replayTiny(t, "--json")
	if err != nil || with != without || !strings.Contains(messages, "4 processors, from its header") {
		t.Errorf("%v\n%s\nwant\n%s\nmessages %s", err, without, with, messages)
	}
	file := filepath.Join(t.TempDir(), "bare.swf")
	if err := os.WriteFile(file, []byte(strings.TrimPrefix(tiny, "; MaxProcs: 4\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runCommand(t.Context(), "replay", file); exitCode(err) != 2 || !strings.Contains(err.Error(), "--procs P") {
		t.Errorf("without a header: %v", err)
	}
}

// A missing folder is reported before an hour of work, not after it.
func TestReplay_AFileThatCannotBeWrittenIsToldFirst(t *testing.T) {
	t.Parallel()
	out, _, err := replayTiny(t, "--procs=4", "--jobs-out=/nowhere/at/all.csv")
	if exitCode(err) != 1 || out != "" {
		t.Errorf("exit %d, %v, printed %q", exitCode(err), err, out)
	}
}

func TestReplay_BadUsageIsSaid(t *testing.T) {
	t.Parallel()
	for args, word := range map[string]string{
		"--procs=-1":                                    "--procs -1: must be 1 or more",
		"--procs=0":                                     "--procs 0: must be 1 or more",
		"--procs=4 --policy=fast":                       "must be fcfs, easy",
		"--procs=4 --overrun=no":                        "kill or extend",
		"--procs=4 --never-ran=no":                      "drop or zero",
		"--procs=4 --days=-1":                           "--days",
		"--procs=4 --skip=-1":                           "--skip",
		"--procs=4 --skip=9":                            "left",
		"--procs=4 --alpha=2":                           "--alpha",
		"--procs=4 --reservations=1.5":                  "--reservations 1.5: must be a share",
		"--procs=4 --copy=NaN":                          "--copy NaN: must be a share",
		"--procs=4 --copy=-1":                           "--copy -1: must be a share",
		"--procs=4 --overrun=extend --reservations=0.1": "do not go together",
	} {
		_, _, err := replayTiny(t, strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), word) || exitCode(err) != 2 {
			t.Errorf("%q: error %v, exit %d, want exit 2 and the word %q", args, err, exitCode(err), word)
		}
	}
}

func TestReplay_SaysThatAPreferenceWithoutReservationsDoesNothing(t *testing.T) {
	t.Parallel()
	for args, said := range map[string]bool{"--alpha=0.5": true, "--alpha=0": false, "--alpha=0.5 --reservations=0.5": false} {
		_, messages, err := replayTiny(t, append([]string{"--procs=4"}, strings.Fields(args)...)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(messages, "add --reservations SHARE"); got != said {
			t.Errorf("%s: %q", args, messages)
		}
	}
}

// Rows and figures of a replay that takes the jobs as they are read are those of one
// that has the whole trace first, which --timing asks for; a trace that is not in order
// is read as a whole anyway.
func TestReplay_StreamedIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("%d %d -1 %d %d -1 -1 4 %d -1 1 1 1 -1 0 -1 -1 -1\n", i, i*37, 1+i%900, 1+i%40, 1+i%700))
	}
	ordered := "; MaxProcs: 64\n" + strings.Join(lines, "")
	lines[3000], lines[4000] = lines[4000], lines[3000]
	for name, text := range map[string]string{"ordered.swf": ordered, "disordered.swf": "; MaxProcs: 64\n" + strings.Join(lines, "")} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var rows [2][]byte
		var said [2]string
		for i, more := range [][]string{nil, {"--timing"}} {
			csv := filepath.Join(dir, name+".csv")
			var out, messages strings.Builder
			cmd := newRoot()
			cmd.SetArgs(append([]string{"replay", file, "--jobs-out", csv}, more...))
			cmd.SetOut(&out)
			cmd.SetErr(&messages)
			if err := cmd.Execute(); err != nil {
				t.Fatal(err)
			}
			rows[i], _ = os.ReadFile(csv)
			figures, _, _ := strings.Cut(out.String(), "simulated per second")
			said[i] = figures + messages.String()
		}
		if len(rows[0]) < 5000 || !bytes.Equal(rows[0], rows[1]) || said[0] != said[1] {
			t.Errorf("%s: streamed it gives %d bytes of rows and\n%swhole %d and\n%s", name, len(rows[0]), said[0], len(rows[1]), said[1])
		}
	}
}

func TestReplay_OrdersByFormula(t *testing.T) {
	t.Parallel()
	out, _, err := replayTiny(t, "--orders")
	if err != nil || !strings.Contains(out, "wfp3 ") || !strings.Contains(out, "capacity") || !strings.Contains(out, "cbrt") {
		t.Errorf("%v\n%s", err, out)
	}
	_, messages, err := replayTiny(t, "--procs=4", "--order=1 / wait", "--policy=fcfs")
	if err != nil || strings.Contains(messages, "no number") {
		t.Errorf("%v\n%s", err, messages)
	}
	_, messages, err = replayTiny(t, "--procs=4", "--order=sqrt(nodes - 3)")
	if err != nil || !strings.Contains(messages, "2 jobs had a value in the given order that was no number") {
		t.Errorf("%v\n%s", err, messages)
	}
	for args, want := range map[string]string{
		"--order=nodes+waits":                     `order: column 7: "waits" is unknown; variables are wait, estimate,`,
		"--backfill-order=":                       "backfill_order: column 2: a value is expected, not the end",
		"--policy=conservative --order=fcfs":      "order: with policy conservative it would change guarantees; use reserve=K",
		"--half-life=7d --order=sjf":              "has no effect",
		"--compare=easy,conservative --order=sjf": "none of the others can be",
		"--compare=easy":                          "--compare: must be 2 to 20 policies",
		"--compare=easy,order=fcfs":               "--compare: easy is there twice",
		"--compare=easy,order=max(1,waits)":       `"waits" is unknown`,
		"--compare=easy,fcfs --jobs-out=x.csv":    "are about one schedule",
		"--compare=easy,fcfs --half-life=7d":      "has no effect without a policy by usage",
	} {
		if _, _, err := replayTiny(t, append([]string{"--procs=4"}, strings.Fields(args)...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestReplay_ComparesWithTheFirst(t *testing.T) {
	t.Parallel()
	out, _, err := replayTiny(t, "--procs=4", "--json", "--compare=easy,fcfs,order=max(estimate, 9),reserve=2 order=saf backfill_order=nodes")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		First    string
		Compared []struct {
			Second string
			Jobs   int
			Wait   simulation.Paired
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.First != "easy" || len(got.Compared) != 3 || got.Compared[1].Second != "easy order=max(estimate, 9)" {
		t.Fatalf("%s", out)
	}
	// Job 2 waits 39 s under both, job 3 none under EASY and 48 s under FCFS.
	if w := got.Compared[0].Wait; got.Compared[0].Jobs != 3 || w.First != 13 || w.Second != 29 || w.Difference != 16 || w.Weeks != 1 || w.CI95 != nil {
		t.Errorf("%+v", got.Compared[0])
	}
	out, _, err = replayTiny(t, "--procs=4", "--compare=easy,fcfs")
	if err != nil || !strings.Contains(out, "+16 (no interval: 1 weeks)") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestReplay_SchedulersOutside(t *testing.T) {
	t.Parallel()
	// A program that starts nothing and rejects all.
	reject := `read -r line; echo '{"version":1}'; while read -r line; do case $line in *end\"*) echo '{}'; exit;; *'"id":1,'*) echo '{"reject":[1]}';; *'"id":2,'*) echo '{"reject":[2]}';; *'"id":3,'*) echo '{"start":[3]}';; *) echo '{}';; esac; done`
	out, messages, err := replayTiny(t, "--procs=4", "--json", "--scheduler="+strings.ReplaceAll(reject, `*end\"*`, `*'"end":'*`))
	if err != nil || !strings.Contains(out, `"jobs": 1,`) || !strings.Contains(messages, "2 jobs rejected by the scheduler") || !strings.Contains(messages, "1 jobs refused") {
		t.Errorf("%v\n%s%s", err, out, messages)
	}
	_, _, err = replayTiny(t, "--procs=4", `--scheduler=read -r line; echo '{"version":1}'; read -r line; echo '{"start":[2]}'`)
	if err == nil || !failure.Is(err) || err.Error() != "scheduler: at 100: start of job 2, which is unknown; only jobs that have arrived and wait can be started" {
		t.Error(err)
	}
	_, _, err = replayTiny(t, "--procs=4", `--scheduler=no-such-program`)
	if err == nil || !failure.Is(err) || !strings.Contains(err.Error(), "exit status 127") {
		t.Error(err)
	}
	for args, want := range map[string]string{
		"--scheduler=x --policy=fcfs":                       "none of the others can be",
		"--scheduler=x --estimates=exact":                   "none of the others can be",
		"--scheduler=x --longest=1h":                        "none of the others can be",
		"--scheduler=x --side-by-side=-1":                   "both must be 1 or more",
		"--scheduler=x --side-by-side=2 --stretch=9":        "--stretch 9: ",
		"--scheduler=x --side-by-side=20000000 --stretch=3": "at most 10000000 jobs in all",
		"--scheduler=x --side-by-side=2 --jobs-out=x.csv":   "about one schedule",
		"--scheduler=- --json":                              "needs the standard output",
	} {
		_, _, err := replayTiny(t, append([]string{"--procs=4"}, strings.Fields(args)...)...)
		if err == nil || failure.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
