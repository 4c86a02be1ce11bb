package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// workloadCommand runs a command line in this process.
func workloadCommand(args ...string) (stdout, stderr string, code int) {
	var out, msg bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&msg)
	root.SetArgs(args)
	err := root.Execute()
	if err != nil {
		msg.WriteString(err.Error())
	}
	return out.String(), msg.String(), exitCode(err)
}

func generated(t *testing.T, args ...string) (*workload.Trace, []grid.LocalJob) {
	t.Helper()
	out, msg, code := workloadCommand(append([]string{"generate"}, args...)...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, msg)
	}
	tr, err := workload.Read(strings.NewReader(out), "stdout", workload.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	jobs, _ := tr.Jobs(workload.JobOptions{})
	return tr, jobs
}

func TestGenerate_AReaderTakesWhatItWrites(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"lublin", "uniform"} {
		tr, jobs := generated(t, "--model", model, "--jobs", "3000", "--procs", "64", "--seed", "7")
		if len(jobs) != 3000 || tr.Header.Processors() != 64 {
			t.Errorf("%s: %d jobs for %d processors", model, len(jobs), tr.Header.Processors())
		}
		if n, ok := tr.Header.Int("MaxRecords"); n != 3000 || !ok {
			t.Errorf("%s: the header has %d records", model, n)
		}
	}
}

func TestGenerate_SameSeedSameBytes(t *testing.T) {
	t.Parallel()
	run := func(seed string) string {
		out, _, _ := workloadCommand("generate", "--model", "lublin", "--jobs", "500", "--procs", "128", "--seed", seed)
		return out
	}
	first, again, other := run("3"), run("3"), run("4")
	if first != again || first == other {
		t.Error("the seed does not say what is drawn")
	}
}

// offeredLoad is the node-seconds that jobs ask for over what nodes have between
// the first submit and the last.
func offeredLoad(jobs []grid.LocalJob, nodes int) float64 {
	work := 0.0
	for i := range jobs {
		work += float64(jobs[i].Nodes) * jobs[i].Run.Seconds()
	}
	return work / (jobs[len(jobs)-1].Submit.Sub(jobs[0].Submit).Seconds() * float64(nodes))
}

func TestGenerate_LoadAndDays(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--model", "lublin", "--load", "0.6", "--jobs", "60000", "--procs", "32"},
		{"--model", "uniform", "--load", "0.6", "--jobs", "20000", "--procs", "32"},
		{"--model", "uniform", "--load", "0.6", "--days", "400", "--procs", "32"},
	} {
		_, jobs := generated(t, args...)
		if got := offeredLoad(jobs, 32); math.Abs(got-0.6) > 0.03 {
			t.Errorf("%v: load %v", args, got)
		}
	}
	_, month := generated(t, "--model", "lublin", "--days", "30", "--procs", "32")
	_, both := generated(t, "--model", "lublin", "--days", "30", "--jobs", "1000000", "--procs", "32")
	_, few := generated(t, "--model", "lublin", "--days", "30", "--jobs", "10", "--procs", "32")
	if len(month) != len(both) || len(few) != 10 || month[len(month)-1].Submit >= grid.Time(30*grid.Day) {
		t.Errorf("%d, %d, %d jobs", len(month), len(both), len(few))
	}
}

func TestGenerate_BadValuesAreBadUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--model lublin --jobs 0 --procs 8":                        "--jobs 0",
		"--model lublin --jobs -5 --procs 8":                       "--jobs -5",
		"--model lublin --jobs 5 --procs 0":                        "--procs 0",
		"--model lublin --jobs 5":                                  `"procs" not set`,
		"--model lublin --procs 5":                                 "[jobs days]",
		"--model lublin --jobs 5 --procs 9999999999":               "--procs 9999999999",
		"--model lublin --jobs 99999999999 --procs 8":              "99999999999 jobs",
		"--model lublin --jobs 5 --procs 8 --load 0":               "--load 0",
		"--model lublin --jobs 5 --procs 8 --load -1":              "--load -1",
		"--model lublin --jobs 5 --procs 8 --load NaN":             "--load NaN",
		"--model lublin --jobs 5 --procs 8 --load Inf":             "--load +Inf",
		"--model lublin --jobs 5 --procs 8 --load 1e-300":          "a higher load or fewer jobs",
		"--model lublin --jobs 5 --procs 8 --days 0":               "--days 0",
		"--model lublin --jobs 5 --procs 8 --days NaN":             "--days NaN",
		"--model lublin --days 1e300 --procs 8":                    "--days 1e+300",
		"--model lublin --days 0.0001 --procs 8":                   "too short for a single job",
		"--model uniform --days 3 --procs 8":                       "add --jobs or --load",
		"--model uniform --days 3 --jobs 3 --load 0.5 --procs 8":   "leave one out",
		"--model gauss --jobs 5 --procs 8":                         `--model "gauss"`,
		"--model lublin --jobs 5 --procs 8 --seed -1":              "--seed",
		"--model lublin --jobs 5 --procs 8 out.swf":                `"out.swf"`,
		"--model uniform --jobs 1000000 --load 1e-200 --procs 100": "10^10 seconds",
	} {
		out, msg, code := workloadCommand(append([]string{"generate"}, strings.Fields(line)...)...)
		if code != 2 || !strings.Contains(msg, want) || out != "" {
			t.Errorf("%s: exit %d, %q", line, code, msg)
		}
	}
}

const swfText = `; Computer: test
; MaxProcs: 8
1 100 5 259.00 4 7.50 -1 4 300 -1 1 3 1 -1 2 -1 -1 -1
2 110 5 60 4 -1 -1 4 300 -1 1 3 1 -1 2 -1 -1 -1
`

func swfFile(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConvert_EitherWayLosesNothing(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "a.swf", swfText)
	zipped, back := in+".gz", in+".back.swf"
	for _, pair := range [][2]string{{in, zipped}, {zipped, back}, {in, back}} {
		if _, msg, code := workloadCommand("convert", "--strict", pair[0], pair[1]); code != 0 {
			t.Fatal(msg)
		}
	}
	if b, err := os.ReadFile(back); err != nil || string(b) != swfText {
		t.Errorf("%v\n%s", err, b)
	}
	f, err := os.Open(zipped)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != swfText {
		t.Errorf("%v\n%s", err, b)
	}
}

func TestConvert_MendsAloudAndStrictRefuses(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "a.swf", swfText+"bad\n"+strings.Replace(swfText, "1 100", "9 50", 1))
	out := in + ".out.swf"
	stdout, msg, code := workloadCommand("convert", "--json", in, out)
	if code != 0 || !strings.Contains(msg, in+":5: has 1 fields") && !strings.Contains(msg, in+":5: field 1") || !strings.Contains(msg, "runs backwards at 1 records") {
		t.Errorf("exit %d: %s", code, msg)
	}
	if want := "{\n  \"records\": 4,\n  \"badLines\": 1,\n  \"backwards\": 1\n}\n"; stdout != want {
		t.Error(stdout)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if _, msg, code = workloadCommand("convert", "--strict", in, out); code != 2 || !strings.Contains(msg, in+":5: ") {
		t.Errorf("exit %d: %s", code, msg)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused conversion wrote its file")
	}
}

func TestConvert_Refuses(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "a.swf", swfText)
	link := in + ".link.swf"
	if err := os.Symlink(in, link); err != nil {
		t.Fatal(err)
	}
	empty := swfFile(t, "empty.swf", "; nothing\n")
	dir := filepath.Dir(in)
	for _, c := range []struct {
		in, out, want string
		code          int
	}{
		{in, in, "are one file", 2},
		{in, filepath.Join(dir, ".", "..", filepath.Base(dir), "a.swf"), "are one file", 2},
		{in, link, "are one file", 2},
		{in + ".gwf.gz", in + ".b.swf", "no such file", 2},
		{in, in + ".txt", "must end in .swf or .gwf", 2},
		{in + ".absent.swf", in + ".b.swf", "no such file", 2},
		{empty, in + ".b.swf", "has no record", 2},
		{in, filepath.Join(dir, "absent", "b.swf"), "no such file", 1},
	} {
		if _, msg, code := workloadCommand("convert", c.in, c.out); code != c.code || !strings.Contains(msg, c.want) {
			t.Errorf("%s %s: exit %d, %s", c.in, c.out, code, msg)
		}
	}
	if _, msg, code := workloadCommand("convert", in); code != 2 || !strings.Contains(msg, "two files") {
		t.Errorf("exit %d, %s", code, msg)
	}
	if b, _ := os.ReadFile(in); string(b) != swfText {
		t.Error("a refusal changed IN")
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("%v", files)
	}
}

func TestConvert_ToTheGridFormatAndBack(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "a.swf", "; Queue: 1 short\n1 10 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 3 -1 -1\n")
	grid, back := in+".gwf.gz", in+".back.swf"
	if _, msg, code := workloadCommand("convert", in, grid); code != 0 || msg != "" {
		t.Fatalf("exit %d, %s", code, msg)
	}
	if _, msg, code := workloadCommand("convert", grid, back); code != 0 || !strings.Contains(msg, "columns 17 to 29 are left out: SWF has no place") {
		t.Fatalf("exit %d, %s", code, msg)
	}
	got, err := os.ReadFile(back)
	if err != nil {
		t.Fatal(err)
	}
	if want := "; Queue: 1 short\n1 10 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 3 -1 -1\n"; !strings.HasSuffix(string(got), want) {
		t.Errorf("%s", got)
	}
}

func TestConvert_TakesADumpOfSacct(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "year.sacct", "JobIDRaw|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|State|MaxRSS\n"+
		"7|ana|batch|2026-03-29T01:59:00|2026-03-29T01:59:30|60|5|8|COMPLETED|\n"+
		"8|ben|long|2026-03-29T03:01:00|2026-03-29T03:02:00|60|5|4|FAILED|\n")
	swf, dir := in+".swf", filepath.Join(filepath.Dir(in), "parts")
	if _, msg, code := workloadCommand("convert", in, swf, "--zone", "Europe/Berlin"); code != 0 || !strings.Contains(msg, "column TimelimitRaw: requested time, in minutes") ||
		!strings.Contains(msg, "not read: MaxRSS") {
		t.Fatalf("exit %d, %s", code, msg)
	}
	got, err := os.ReadFile(swf)
	want := "7 0 30 60 8 -1 -1 -1 300 -1 1 1 -1 -1 -1 1 -1 -1\n8 120 60 60 4 -1 -1 -1 300 -1 0 2 -1 -1 -1 2 -1 -1\n"
	if err != nil || !strings.HasSuffix(string(got), want) || !strings.Contains(string(got), "; Partition: 2 long\n") {
		t.Errorf("%v:\n%s\nwant\n%s", err, got, want)
	}
	if out, msg, code := workloadCommand("replay", in, "--procs", "16"); code != 0 || !strings.Contains(out, "jobs ") {
		t.Errorf("replay: exit %d, %s%s", code, out, msg)
	}
	if out, msg, code := workloadCommand("convert", in, "--split", dir); code != 0 || !strings.Contains(out, "year-2.swf: 1 records") {
		t.Errorf("--split: exit %d, %s%s", code, out, msg)
	}
	if _, msg, code := workloadCommand("convert", in, swf, "--zone", "Berlin"); code != 2 || !strings.Contains(msg, "unknown time zone") {
		t.Errorf("exit %d, %s", code, msg)
	}
}

// Between the two submits of this log a clock in Berlin goes from 2 to 3 o'clock.
const nightInBerlin = "JobIDRaw|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|State\n" +
	"7|ana|batch|2026-03-29T01:59:00|2026-03-29T01:59:30|60|5|8|COMPLETED\n" +
	"8|ben|batch|2026-03-29T03:01:00|2026-03-29T03:02:00|60|5|4|COMPLETED\n"

func TestReplay_TimesOfSacctAreOfTheZone(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "year.sacct", nightInBerlin)
	rows := in + ".csv"
	for _, c := range []struct {
		zone, want string
	}{{"Europe/Berlin", "8,120,"}, {"UTC", "8,3720,"}} {
		if _, msg, code := workloadCommand("replay", in, "--procs", "16", "--zone", c.zone, "--jobs-out", rows); code != 0 {
			t.Fatalf("exit %d, %s", code, msg)
		}
		if got, err := os.ReadFile(rows); err != nil || !strings.Contains(string(got), "\n"+c.want) {
			t.Errorf("%s: %v:\n%s\nwant a row %s", c.zone, err, got, c.want)
		}
	}
	_, told, _ := workloadCommand("convert", in, in+".swf", "--zone", "Berlin")
	if _, msg, code := workloadCommand("replay", in, "--procs", "16", "--zone", "Berlin"); code != 2 || msg != told || !strings.Contains(msg, "unknown time zone") {
		t.Errorf("exit %d, %s; convert says %s", code, msg, told)
	}
}

func TestConvert_AScenarioKeepsTheZone(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "year.sacct", nightInBerlin)
	file, out := in+".toml", filepath.Join(filepath.Dir(in), "out")
	if _, msg, code := workloadCommand("convert", in, file, "--zone", "Europe/Berlin"); code != 0 {
		t.Fatalf("exit %d, %s", code, msg)
	}
	if _, msg, code := workloadCommand("simulate", file, "--out", out); code != 0 {
		t.Fatalf("exit %d, %s", code, msg)
	}
	if jobs, err := os.ReadFile(filepath.Join(out, "jobs.csv")); err != nil || !strings.Contains(string(jobs), ",batch,8,local,120,") {
		t.Errorf("%v: no local job 8 submitted at 120 in\n%.400s", err, jobs)
	}
	if _, msg, code := workloadCommand("convert", in, file, "--zone", "Local"); code != 2 || !strings.Contains(msg, "the same on every machine") {
		t.Errorf("exit %d, %s", code, msg)
	}
	swf := in + ".swf" // its times are of no zone: the key would be refused
	if _, msg, code := workloadCommand("convert", in, swf); code != 0 {
		t.Fatalf("exit %d, %s", code, msg)
	}
	if _, msg, code := workloadCommand("convert", swf, file, "--zone", "Europe/Berlin"); code != 0 {
		t.Fatalf("exit %d, %s", code, msg)
	}
	if _, msg, code := workloadCommand("check", file); code != 0 {
		t.Errorf("a scenario of %s: exit %d, %s", swf, code, msg)
	}
}

func TestConvert_SplitsALogByPartition(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "log.swf", "; Partition: 2 south\n1 10 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 2 -1 -1\n2 11 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 5 -1 -1\n3 12 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 2 -1 -1\n")
	dir := filepath.Join(filepath.Dir(in), "parts")
	out, msg, code := workloadCommand("convert", in, "--split", dir, "--json")
	if code != 0 || !strings.Contains(out, `"name": "south"`) {
		t.Fatalf("exit %d, %s%s", code, out, msg)
	}
	for name, records := range map[string]int{"log-2.swf": 2, "log-5.swf": 1} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(b), "\n") - 1; got != records {
			t.Errorf("%s has %d records, want %d", name, got, records)
		}
	}
	if _, msg, code := workloadCommand("convert", in, in+".gwf", "--split", dir); code != 2 || !strings.Contains(msg, "takes one file") {
		t.Errorf("exit %d, %s", code, msg)
	}
}

// Records whose partition is not known are a file of that name; where none is known there
// is nothing to split by, and nothing is written.
func TestConvert_SplitsNothingByWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	const some = "1 10 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 2 -1 -1\n"
	none := strings.ReplaceAll(some, " 1 2 -1 -1\n", " 1 -1 -1 -1\n")
	in := swfFile(t, "log.swf", none+some)
	dir := filepath.Join(filepath.Dir(in), "parts")
	if out, msg, code := workloadCommand("convert", in, "--split", dir); code != 0 || !strings.Contains(out, "log-unknown.swf: 1 records") || !strings.Contains(out, "log-2.swf: 1 records") {
		t.Errorf("exit %d, %s%s", code, out, msg)
	}
	in, dir = swfFile(t, "log.swf", none), filepath.Join(dir, "none")
	if _, msg, code := workloadCommand("convert", in, "--split", dir); code != 2 || !strings.Contains(msg, "name no partition") {
		t.Errorf("exit %d, %s", code, msg)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder is made for nothing")
	}
}

// The preset of the grid's log equals what the command makes from the log.
func TestConvert_AGridsLogBecomesAScenario(t *testing.T) {
	t.Parallel()
	trace := filepath.Join("..", "..", "..", "shared", "traces", "LCG-2005-1.swf.gz")
	if _, err := os.Stat(trace); err != nil {
		t.Skip("needs the trace LCG-2005-1.swf.gz beside the project, in shared/traces")
	}
	out := filepath.Join(t.TempDir(), "lcg.toml")
	if _, msg, code := workloadCommand("convert", "--size", "1", trace, out); code != 0 {
		t.Fatalf("exit %d, %s", code, msg)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range configs.Presets() {
		if p.Name == "lcg" && string(p.Text) != string(got) {
			t.Error("the preset differs; make it again with bourse convert --size 1 LCG-2005-1.swf.gz configs/presets/lcg.toml")
		}
	}
}

func TestConvert_AScenarioHasASiteForEachPartition(t *testing.T) {
	t.Parallel()
	in := swfFile(t, "log.swf", "; Partition: 2 south\n1 10 0 5 3 -1 -1 1 9 -1 1 7 -1 -1 1 2 -1 -1\n2 11 1 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 2 -1 -1\n"+
		"3 15 0 5 2 -1 -1 1 9 -1 1 7 -1 -1 1 2 -1 -1\n4 12 0 5 1 -1 -1 1 9 -1 1 7 -1 -1 1 -1 -1 -1\n")
	out := filepath.Join(filepath.Dir(in), "grid.toml")
	if _, msg, code := workloadCommand("convert", in, out); code != 0 || !strings.Contains(msg, "partition -1: no site made of its 1 records") {
		t.Fatalf("exit %d, %s", code, msg)
	}
	s, err := configs.ReadScenario(out)
	if err != nil {
		t.Fatal(err)
	}
	// 3 until 15, 1 from 12 to 17, 2 from 15: 4 at most
	if len(s.Sites) != 1 || s.Sites[0].Name != "south" || s.Sites[0].Nodes() != 4 || s.Until != grid.Day {
		t.Errorf("%+v", s)
	}
}
