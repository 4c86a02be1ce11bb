package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// runJournal runs "bourse journal" with arguments.
func runJournal(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(append([]string{"journal"}, args...))
	err = root.Execute()
	return out.String(), err
}

// writeJournal writes facts into the journal of an agent under dir, with an
// image of none after the first few if asked.
func writeJournal(t *testing.T, dir string, agent agents.ID, recorded ...agents.Fact) string {
	t.Helper()
	path := filepath.Join(dir, strings.ReplaceAll(string(agent), ":", "-"))
	disk, err := journal.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	j, err := journal.Open(disk, journal.Options{Agent: agent}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range recorded {
		if err := j.Append(grid.Time(i)*1000, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	return path
}

// story is a window of one leg that goes well, as its broker and its site record
// it.
func story() (broker, site []agents.Fact) {
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 1}
	id, what, fare := grid.LegID{Tx: tx}, grid.Leg{Group: "main", Nodes: 4, Start: 2000, End: 200_000}, grid.Fare{Base: grid.Credit}
	moved := func(s grid.LegState) facts.LegMoved {
		return facts.LegMoved{Leg: id, State: s, What: what, Job: "wave", Fare: fare, Limit: grid.Credit}
	}
	return []agents.Fact{
			facts.TxBegun{Tx: tx, Job: "wave", Alternative: 1, Sites: []string{"north"}, Legs: []grid.Leg{what}, Limits: []grid.Credits{grid.Credit}},
			facts.LegPriced{Leg: id, Fare: fare},
			facts.TxDecided{Tx: tx, Job: "wave", Commit: true},
			facts.LegClosed{Leg: id, Commit: true, Posted: fare.Total()},
		},
		[]agents.Fact{moved(grid.Held), moved(grid.Confirmed), moved(grid.Running), moved(grid.Settled)}
}

func TestJournal_VerifyFindsNothingWhereAllWentWell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, s := story()
	writeJournal(t, dir, "broker:vo1", b...)
	writeJournal(t, dir, "site:north", s...)
	out, err := runJournal(t, "verify", dir, "--nodes", "north/main=4")
	if err != nil || !strings.HasSuffix(out, "2 journals, 1 transaction: 1 committed, 0 aborted; 1 leg, 0 in flight; no invariant is broken\n") {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		if len([]rune(line)) > 110 {
			t.Errorf("a line is too long: %s", line)
		}
	}
}

func TestJournal_VerifyExits1WhereAnInvariantIsBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, s := story()
	north := writeJournal(t, dir, "site:north", s[0], s[1], s[3])
	out, err := runJournal(t, "verify", north)
	if exitCode(err) != 1 || !strings.Contains(out, "fact 3 at 2:\n    leg vo1/1/1.0 goes from confirmed to settled\n") {
		t.Errorf("exit %d, %v\n%s", exitCode(err), err, out)
	}
	// The broker says ABORT: only both journals together show it.
	ordered := writeJournal(t, t.TempDir(), "broker:vo1", b[0], b[1], facts.TxDecided{Tx: b[0].(facts.TxBegun).Tx, Job: "wave"})
	if _, err := runJournal(t, "verify", ordered); err != nil {
		t.Errorf("one journal: %v", err)
	}
	if _, err := runJournal(t, "verify", north, writeJournal(t, t.TempDir(), "site:north")); exitCode(err) != 2 || !strings.Contains(err.Error(), "are both journals of site:north") {
		t.Errorf("two journals of one agent: %v", err)
	}
	out, err = runJournal(t, "verify", ordered, north, "--json")
	var report struct {
		Broken   int
		Findings []struct{ Invariant, File, What string }
		Counts   map[string]int
	}
	if e := json.Unmarshal([]byte(out), &report); e != nil || exitCode(err) != 1 {
		t.Fatalf("exit %d, %v\n%s", exitCode(err), e, out)
	}
	if report.Broken != 2 || report.Findings[1].Invariant != "I2" || report.Counts["aborted"] != 1 {
		t.Errorf("%+v", report)
	}
}

func TestJournal_DamageIsExit2WithFileAndByte(t *testing.T) {
	t.Parallel()
	_, s := story()
	path := writeJournal(t, t.TempDir(), "site:north", s...)
	file := filepath.Join(path, "00000001.journal")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(data)
	damaged[len(data)/2] ^= 1
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"verify", "show"} {
		for _, p := range []string{path, file} {
			if _, err := runJournal(t, command, p); exitCode(err) != 2 || !strings.Contains(err.Error(), file+": damaged at byte ") {
				t.Errorf("%s %s: exit %d, %v", command, p, exitCode(err), err)
			}
		}
	}
	if err := os.WriteFile(file, data[:len(data)-5], 0o600); err != nil { // torn is not damaged
		t.Fatal(err)
	}
	if out, err := runJournal(t, "verify", file); err != nil || !strings.Contains(out, " 3 ") {
		t.Errorf("a torn tail: %v\n%s", err, out)
	}
	if out, err := runJournal(t, "show", file); err != nil || !strings.HasSuffix(out, "bytes of an incomplete record\n") {
		t.Errorf("a torn tail: %v\n%s", err, out)
	}
}

// Instants of a process are shown by the calendar, also those in what a fact says.
func TestJournal_ShowsTheInstantsOfAProcessByTheCalendar(t *testing.T) {
	t.Parallel()
	const at = 1_795_398_646_781
	_, site := story()
	leg := site[0].(facts.LegMoved)
	leg.What.Start, leg.What.End = at, at+grid.Time(grid.Minute)
	leg.State, leg.Reason = grid.Refused, grid.Because(grid.Busy, "8 free at %v, 48 needed", grid.Time(at))
	out, err := runJournal(t, "show", writeJournal(t, t.TempDir(), "site:north", leg))
	if want := "over [2026-11-23 01:50:46.781Z, 2026-11-23 01:51:46.781Z) at 1: 8 free at 2026-11-23 01:50:46.781Z, 48 needed\n"; err != nil || !strings.HasSuffix(out, want) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestJournal_ShowFiltersAndCounts(t *testing.T) {
	t.Parallel()
	b, _ := story()
	path := writeJournal(t, t.TempDir(), "broker:vo1", b...)
	out, err := runJournal(t, "show", path)
	want := `broker:vo1
   number                       at  kind               what
        1                        0  tx-begun           vo1/1/1: job wave, alternative 1 at north
        2                        1  leg-priced         vo1/1/1.0 at 1
        3                        2  tx-decided         vo1/1/1 COMMIT: job wave
        4                        3  leg-closed         vo1/1/1.0 confirmed, 1 posted
`
	if err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--last", "2"}, []string{"tx-decided", "leg-closed"}},
		{[]string{"--kind", "tx-begun", "--kind", "tx-decided"}, []string{"tx-begun", "tx-decided"}},
		{[]string{"--leg", "vo1/1/1.0"}, []string{"leg-priced", "leg-closed"}},
		{[]string{"--leg", "vo1/1/1", "--last", "1"}, []string{"leg-closed"}},
		{[]string{"--leg", "vo1/1/2"}, nil},
	} {
		out, err := runJournal(t, append([]string{"show", path, "--json"}, c.args...)...)
		var kinds []string
		for line := range strings.Lines(out) {
			var r struct {
				Kind, File string
				Number     int
				Fact       map[string]any
			}
			if e := json.Unmarshal([]byte(line), &r); e != nil || len(r.Fact) == 0 {
				t.Fatalf("%v: %s", e, line)
			}
			kinds = append(kinds, r.Kind)
		}
		if err != nil || !slices.Equal(kinds, c.want) {
			t.Errorf("%v: %v, %v", c.args, kinds, err)
		}
	}
}

func TestJournal_BadUsageIsExit2(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"", "needs verify, show, copy, rebase, restore or keep"},
		{"verfy x", "must be verify, show, copy, rebase, restore or keep"},
		{"verify", "a path is missing"},
		{"verify " + empty, "no journal in this folder"},
		{"show " + filepath.Join(empty, "x"), "no such file"},
		{"verify " + empty + " --nodes main", "SITE/GROUP=N"},
		{"show " + empty + " --kind leg-sold", "must be one of amnesia, "},
		{"show " + empty + " --last -1", "must not be negative"},
	} {
		if _, err := runJournal(t, strings.Fields(c.args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: exit %d, %v", c.args, exitCode(err), err)
		}
	}
}

// The facts of a simulation are written to journals, one for each agent, and pass the audit.
func TestJournal_VerifiesASimulation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := newRoot()
	root.SetOut(&bytes.Buffer{})
	root.SetErr(&bytes.Buffer{})
	root.SetArgs([]string{"simulate", "--out", filepath.Join(dir, "run")})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	recorded, transactions := recordEvents(t, filepath.Join(dir, "run", "events.jsonl"), filepath.Join(dir, "journals"))
	args := []string{"verify", filepath.Join(dir, "journals"), "--json"}
	for _, s := range []string{"barge/main=512", "harbour/main=256", "island/main=128", "yacht/thin=128", "yacht/fat=32"} {
		args = append(args, "--nodes", s)
	}
	out, err := runJournal(t, args...)
	var report struct {
		Counts struct{ Facts, Transactions, Committed, InFlight int }
	}
	if e := json.Unmarshal([]byte(out), &report); e != nil || err != nil {
		t.Fatalf("%v, %v\n%s", err, e, out)
	}
	if out, err := runJournal(t, append(args[:2:2], "--nodes", "harbour/main=255")...); exitCode(err) != 1 || !strings.Contains(out, "I1  cluster:harbour") {
		t.Errorf("with a node less: exit %d\n%s", exitCode(err), out)
	}
	if out, err := runJournal(t, append(args[:2:2], "--scenario", "../../configs/presets/default.toml")...); err != nil {
		t.Errorf("with the sizes of the scenario: %v\n%s", err, out)
	}
	if c := report.Counts; c.Facts != recorded || c.Transactions != transactions || c.Committed == 0 || c.InFlight > 0 {
		t.Errorf("%+v, want %d facts of %d transactions", c, recorded, transactions)
	}
}

// recordEvents writes the lines of events.jsonl as journals.
func recordEvents(t *testing.T, events, dir string) (recorded, transactions int) {
	t.Helper()
	types := map[string]reflect.Type{}
	for _, f := range facts.Facts() {
		types[f.Kind()] = reflect.TypeOf(f)
	}
	file, err := os.Open(events)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	journals := map[agents.ID]*journal.Journal{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var head struct {
			At    grid.Time
			Agent agents.ID
			Kind  string
		}
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		v := reflect.New(types[head.Kind])
		if err := json.Unmarshal(lines.Bytes(), v.Interface()); err != nil {
			t.Fatal(err)
		}
		j := journals[head.Agent]
		if j == nil {
			disk, err := journal.OpenFolder(filepath.Join(dir, strings.ReplaceAll(string(head.Agent), ":", "-")))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = disk.Close() })
			if j, err = journal.Open(disk, journal.Options{Agent: head.Agent}, nil); err != nil {
				t.Fatal(err)
			}
			journals[head.Agent] = j
		}
		if err := j.Append(head.At, v.Elem().Interface().(agents.Fact)); err != nil {
			t.Fatal(err)
		}
		recorded++
		if head.Kind == "tx-begun" {
			transactions++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, j := range journals {
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	return recorded, transactions
}
