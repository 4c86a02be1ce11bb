package workload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// rows are the given fields of the records of a text, and what is said about it.
func rows(t *testing.T, name, text string, opt Options, fields ...Field) (got []string, said string) {
	t.Helper()
	trace, err := Read(strings.NewReader(text), name, opt)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, r := range trace.Records {
		got = append(got, fieldsOf(r, fields...))
	}
	return got, strings.Join(trace.Remarks(), "\n")
}

// A job that was swapped out or restarted has a line that sums it up, and lines of its parts.
func TestRead_PartialExecutionsAreLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	const log = `; MaxProcs: 8
1 0 10 150 4 -1 -1 4 400 -1 1 1 1 1 1 1 -1 -1
1 0 10 50 4 -1 -1 4 400 -1 2 1 1 1 1 1 -1 -1
1 -1 30 100 4 -1 -1 4 400 -1 3 1 1 1 1 1 -1 -1
2 20 0 60 4 -1 -1 4 100 -1 0 2 1 1 1 1 -1 -1
2 20 0 10 4 -1 -1 4 100 -1 4 2 1 1 1 1 -1 -1
`
	got, said := rows(t, "a.swf", log, Options{Strict: true}, JobNumber, RunTime)
	if !slices.Equal(got, []string{"1 150", "2 60"}) || said != "a.swf: 3 lines of partial executions left out" {
		t.Errorf("%q, %s", got, said)
	}
	_, said = rows(t, "a.swf", log+"3 30 0 10 4 -1 -1 4 100 -1 2 2 1 1 1 1 -1 -1\n", Options{}, JobNumber)
	if !strings.Contains(said, "1 job with such lines and no line of status 0 or 1") {
		t.Error(said)
	}
	grid := strings.ReplaceAll(strings.TrimPrefix(log, "; MaxProcs: 8\n"), " -1 -1\n", strings.Repeat(" -1", 13)+"\n")
	if got, _ := rows(t, "a.gwf", grid, Options{}, JobNumber); len(got) != 2 {
		t.Errorf("a log of a grid: %q", got)
	}
	if _, err := Read(strings.NewReader("1 0 10 50 4 -1 -1 4 400 -1 2 1 1 1 1 1 -1 -1\n"), "a.swf", Options{}); err == nil || !strings.Contains(err.Error(), "1 line of partial executions") {
		t.Error(err)
	}
	feed, err := OpenFeed(write(t, "a.swf", log), Options{}, JobOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	for ok := true; ok; _, ok = feed.Next() {
	}
	if _, _, _, err := feed.End(); err != ErrNotInOrder {
		t.Errorf("a feed cannot tell whose parts these are: %v", err)
	}
}

func TestRead_ColumnsAfterThe18thAreLeftOutAndStrictRefuses(t *testing.T) {
	t.Parallel()
	a, b := line("1", "10", "7"), line("2", "20", "7")
	got, said := rows(t, "a.swf", a+" 2\n"+b+" V100\n", Options{}, JobNumber)
	if len(got) != 2 || said != "a.swf: 1 column after the 18th left out: SWF has no place for them" {
		t.Errorf("%q, %s", got, said)
	}
	if _, err := Read(strings.NewReader(a+" 2\n"+b+" 0\n"), "a.swf", Options{Strict: true}); err == nil || !strings.Contains(err.Error(), "a.swf:1: has 19 fields, must have 18") {
		t.Error(err)
	}
}

const times = "Submit|Start|End|ElapsedRaw|AllocCPUS\n"

// Dumps of neighbouring months both have the jobs that ran over midnight.
func TestTable_RowsOfOneJobCountOnce(t *testing.T) {
	t.Parallel()
	const head = "JobIDRaw|JobID|State|Submit|Start|End|ElapsedRaw|AllocCPUS\n"
	const jan = head + "100|100|COMPLETED|2026-01-31T20:00:00|2026-01-31T20:10:00|2026-02-01T02:10:00|21600|64\n"
	const feb = "101|101|COMPLETED|2026-02-01T00:00:00|2026-02-01T02:10:00|2026-02-01T03:10:00|3600|64\n"
	for name, c := range map[string]struct {
		text string
		want []string
		says string
	}{
		"in both":            {jan + jan + feb, []string{"100 21600", "101 3600"}, "1 repeated line of names left out\nx.sacct: 1 row of jobs that another row has left out"},
		"each with a mark":   {"\ufeff" + jan + "\ufeff" + jan + feb, []string{"100 21600", "101 3600"}, "1 repeated line of names"},
		"ran in the first":   {strings.Replace(jan, "COMPLETED", "RUNNING", 1) + jan + feb, []string{"100 21600", "101 3600"}, "1 repeated line"},
		"a shorter view":     {strings.Replace(strings.Replace(jan, "|21600|", "|60|", 1), "2026-02-01T02:10:00", "", 1) + jan + feb, []string{"100 21600", "101 3600"}, "1 row of jobs"},
		"requeued: two runs": {jan + "100|100|REQUEUED|2026-01-31T19:00:00|2026-01-31T19:10:00|2026-01-31T19:20:00|600|64\n", []string{"1 600", "2 21600"}, "not every job has a number of its own"},
		"requeued, waits":    {jan + "102|102|REQUEUED|2026-01-31T19:00:00|Unknown|Unknown|0|64\n", []string{"100 21600"}, "1 job left out that had not ended"},
	} {
		got, said := rows(t, "x.sacct", c.text, Options{Strict: true}, JobNumber, RunTime)
		if !slices.Equal(got, c.want) || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q\n%s", name, got, said)
		}
		if strings.Contains(name, "first") && strings.Contains(said, "left out that had not ended") {
			t.Errorf("%s: its end is known from the second dump: %s", name, said)
		}
	}
	clusters := strings.ReplaceAll(jan+jan, "JobIDRaw", "Cluster|JobIDRaw")
	clusters = strings.Replace(strings.Replace(clusters, "\n100|", "\neast|100|", 1), "\n100|", "\nwest|100|", 1)
	if got, _ := rows(t, "x.sacct", clusters, Options{}, RunTime); len(got) != 2 {
		t.Errorf("one number on two clusters is two jobs: %q", got)
	}
	if _, err := Read(strings.NewReader(jan+"JobIDRaw|State|Submit|End\n"+feb), "x.sacct", Options{}); err == nil || !strings.Contains(err.Error(), "x.sacct:3: names other columns than the first line") {
		t.Errorf("another header: %v", err)
	}
}

func TestTable_TimesWithAnyZone(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		"2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00+01", "2026-01-01 00:00:00 +0100", "2025-12-31T23:00:00Z",
		"2025-12-31T23:00:00", "2025-12-31 23:00:00", "2025/12/31 23:00:00", "2025-12-31T23:00:00.000", "2025-12-31 23:00:00 UTC", "2025-12-31T17:30:00-0530", "1767222000", "1767222000.0", "2025-12-31T23:00",
	} {
		trace, err := Read(strings.NewReader("Submit|ElapsedRaw|AllocCPUS\n"+c+"|5|1\n"), "x.sacct", Options{Strict: true})
		if err != nil {
			t.Error(err)
			continue
		}
		if base, _ := trace.Header.Int("UnixStartTime"); base != 1767222000 {
			t.Errorf("%s: begins at %d", c, base)
		}
	}
}

// In an hour that the clock repeats, the order of a job's times and its length say which of
// the two is meant. What nothing decides is counted, and so is an hour that there never was.
func TestTable_TheHourThatTheClockRepeats(t *testing.T) {
	t.Parallel()
	berlin, err := ParseZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	first := "2025-10-26T01:00:00|2025-10-26T01:00:00|2025-10-26T01:30:00|1800|8\n" // 23:00Z
	for name, c := range map[string]struct{ row, want, says string }{
		"by length and order": {"2025-10-26T02:50:00|2025-10-26T02:10:00|2025-10-26T04:10:00|7200|8", "6600 1200 7200", ""},
		"by length":           {"2025-10-26T01:50:00|2025-10-26T02:10:00|2025-10-26T04:10:00|10800|8", "3000 1200 10800", ""},
		"start and end in it": {"2025-10-26T01:50:00|2025-10-26T02:50:00|2025-10-26T02:20:00|1800|8", "3000 3600 1800", ""},
		"nothing decides":     {"2025-10-26T02:15:00|2025-10-26T04:10:00|2025-10-26T04:20:00|600|8", "4500 10500 600", "1 time in an hour that the clock repeated"},
		"a whole job in it":   {"2025-10-26T02:15:00|2025-10-26T02:16:00|2025-10-26T02:17:00|60|8", "4500 60 60", "3 times in an hour that the clock repeated"},
		"stated zones":        {"2025-10-26T02:50:00+0200|2025-10-26T02:10:00+0100|2025-10-26T04:10:00+0100|7200|8", "6600 1200 7200", ""},
	} {
		got, said := rows(t, "x.sacct", times+first+c.row+"\n", Options{Zone: berlin}, SubmitTime, WaitTime, RunTime)
		if len(got) != 2 || got[1] != c.want || !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "in an hour") {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.want, said)
		}
	}
	_, said := rows(t, "x.sacct", times+"2026-03-29T02:30:00|2026-03-29T03:30:00|2026-03-29T04:00:00|1800|8\n", Options{Zone: berlin}, SubmitTime)
	if !strings.Contains(said, "1 time in an hour that the clock left out") {
		t.Error(said)
	}
}

// sacct prints 2K for 2048 unless --noconvert is given.
func TestTable_CountsWithUnits(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"AllocCPUS", "NCPUS", "AllocNodes", "NNodes", "ReqCPUS", "ReqNodes", "allocated_processors", "requested processors"} {
		for cell, want := range map[string]int{"2K": 2048, "2.50K": 2560, "1M": 1 << 20, "12": 12, "12.0": 12, "4-8": 4} {
			trace := readTable(t, "x.sacct", "Submit|ElapsedRaw|"+column+"\n1769860800|5|"+cell+"\n", Options{Strict: true})
			if got := trace.Records[0].Processors(); got != want {
				t.Errorf("%s %s: %d processors, want %d", column, cell, got, want)
			}
		}
	}
	if trace := readTable(t, "x.sacct", "Submit|ElapsedRaw|AllocTRES\n1769860800|5|billing=4K,cpu=2K,node=16\n", Options{}); trace.Records[0].Processors() != 2048 {
		t.Errorf("%d processors", trace.Records[0].Processors())
	}
}

// Slurm writes 4294967295, 4294967294 or INVALID where there is no number.
func TestTable_NumbersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, none := range []string{"4294967295", "4294967294", "4294967295.0", "INVALID", "18446744073709551615", "NaN", "NULL", "None assigned"} {
		text := "JobID|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|ReqCPUS\n" +
			"1|NODE_FAIL|2026-01-01T00:00:00|2026-01-01T01:10:00|Unknown|" + none + "|120|4|4\n" +
			"2|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:10:00|2026-01-01T02:10:00|" + none + "|" + none + "|" + none + "|4\n"
		got, said := rows(t, "x.sacct", text, Options{Strict: true}, JobNumber, RunTime, RequestedTime, AllocatedProcessors, RequestedProcessors)
		if !slices.Equal(got, []string{"2 3600 -1 -1 4"}) || !strings.Contains(said, "1 job left out that ran for a time that nothing says") {
			t.Errorf("%s: %q\n%s", none, got, said)
		}
		if strings.HasPrefix(none, "4") && !strings.Contains(said, "column ElapsedRaw: 2 values") {
			t.Errorf("%s: %s", none, said)
		}
	}
	got, said := rows(t, "a.swf", line("1", "0", "4294967295")+"\n"+line("2", "1", "5")+"\n", Options{}, JobNumber, RunTime)
	if !slices.Equal(got, []string{"1 -1", "2 5"}) || !strings.Contains(said, "1 time of 4294967295") {
		t.Errorf("%q, %s", got, said)
	}
}

func TestTable_PartedByAnything(t *testing.T) {
	t.Parallel()
	const bars = "JobID|JobName|Submit|Start|End|ElapsedRaw|AllocCPUS\n7|\"a, b; c\"|2026-01-01T00:00:00|2026-01-01T00:10:00|2026-01-01T00:30:00|1200|8\n"
	for _, d := range []string{",", ";", "\t", "|"} {
		for _, name := range []string{"x.csv", "x.sacct", "log.txt", "log"} {
			text := strings.ReplaceAll(bars, "|", d)
			if d == "|" {
				text = strings.ReplaceAll(text, `"`, "")
			}
			got, _ := rows(t, name, text, Options{Strict: true}, JobNumber, WaitTime, RunTime, AllocatedProcessors, Executable)
			if !slices.Equal(got, []string{"7 600 1200 8 1"}) {
				t.Errorf("%s by %q: %q", name, d, got)
			}
		}
	}
	padded := "       JobID    Submit     Start  AllocCPUS\n------------ ---------- --------- ----------\n"
	if _, err := Read(strings.NewReader(padded), "x.sacct", Options{}); err == nil || !strings.Contains(err.Error(), "parted by blanks") || !strings.Contains(err.Error(), "--parsable2") {
		t.Error(err)
	}
}

// A table of another tool is read by its own names, of text or Parquet.
func TestTable_NamesOfOtherTools(t *testing.T) {
	t.Parallel()
	const pyslurm = "job_id|job_state|submit_time|eligible_time|start_time|end_time|run_time|time_limit|num_cpus|num_nodes|user_id|partition\n" +
		"1|COMPLETED|1614556800|1614556800|1614557100|1614560700|3600|120|128|1|7|p\n" +
		"2|RUNNING|1614556800|1614556800|1614557100|0|50|120|128|1|7|p\n"
	for name, c := range map[string]struct{ text, want string }{
		"pyslurm": {pyslurm, "1 300 3600 128 -1 7200 1 7"},
		"evalys":  {"jobID,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,allocated_resources\n1,10,4,7200,1,310,3600,3910,300,0-3\n", "1 300 3600 -1 4 7200 1 -1"},
		"squeue":  {"JOBID|ST|SUBMIT_TIME|START_TIME|END_TIME|CPUS|TIME_LIMIT\n1|CD|2021-03-01T00:00:00|2021-03-01T00:05:00|2021-03-01T01:05:00|128|2:00:00\n", "1 300 3600 128 -1 7200 1 -1"},
		"ours":    {"job,submit,start,end,procs,estimate,kind\n1,10,310,3910,128,7200,immediate\n", "1 300 3600 128 -1 7200 -1 -1"},
	} {
		got, said := rows(t, "log.csv", c.text, Options{Strict: true}, JobNumber, WaitTime, RunTime, AllocatedProcessors, RequestedProcessors, RequestedTime, Status, UserID)
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.want, said)
		}
		if strings.Contains(said, "not read: user") {
			t.Errorf("%s: it reads what it says it does not: %s", name, said)
		}
	}
	type row struct {
		ID     int64     `parquet:"job_id"`
		State  string    `parquet:"job_state"`
		Submit time.Time `parquet:"submit_time,timestamp(millisecond:local)"`
		Start  time.Time `parquet:"start_time,timestamp(millisecond:local)"`
		Run    int64     `parquet:"run_time"`
		CPUs   uint32    `parquet:"num_cpus"`
		Limit  uint32    `parquet:"time_limit"`
	}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "jobs")
	if err := parquet.WriteFile(path, []row{{1, "COMPLETED", noon, noon.Add(time.Minute), 60, 8, 1<<32 - 1}}); err != nil {
		t.Fatal(err)
	}
	berlin, _ := ParseZone("Europe/Berlin")
	trace, err := Open(path, Options{Zone: berlin})
	if err != nil {
		t.Fatal(err)
	}
	if got := fieldsOf(trace.Records[0], JobNumber, WaitTime, RunTime, AllocatedProcessors, RequestedTime); got != "1 60 60 8 -1" {
		t.Errorf("Parquet: %s", got)
	}
	if base, _ := trace.Header.Int("UnixStartTime"); base != noon.Unix()-7200 {
		t.Errorf("a clock on the wall is of the zone: begins at %d", base)
	}
}

func TestTable_MappedColumns(t *testing.T) {
	t.Parallel()
	const text = "Queued;Took;Cores;Wall;Who\n2026-01-01 00:00:00;1.5;4;60;ana\n2026-01-01 01:00:00;2;8;00:30:00;ben\n"
	m, err := ParseMap("submit=Queued,run=Took:h,nodes=Cores,estimate=Wall:min,user=Who")
	if err != nil {
		t.Fatal(err)
	}
	got, said := rows(t, "log.csv", text, Options{Map: m, Strict: true}, SubmitTime, RunTime, AllocatedProcessors, RequestedTime, UserID)
	if !slices.Equal(got, []string{"0 5400 4 3600 1", "3600 7200 8 1800 2"}) || !strings.Contains(said, "column Cores: nodes, as mapped") {
		t.Errorf("%q\n%s", got, said)
	}
	if _, err := Read(strings.NewReader(text), "log.csv", Options{}); err == nil || !strings.Contains(err.Error(), "--map submit=COLUMN") {
		t.Errorf("unknown names: %v", err)
	}
	if _, err := Read(strings.NewReader("a;b;c\n"+text), "log.csv", Options{Map: m}); err == nil || !strings.Contains(err.Error(), `has no column "Queued"`) {
		t.Error(err)
	}
	// A colon that is followed by no unit is of the column's name; a unit that is none is said.
	const odd = "Queued;Elapsed (HH:MM:SS);Cores\n2026-01-01 00:00:00;01:30:00;4\n"
	if m, err = ParseMap("submit=Queued,run=Elapsed (HH:MM:SS),nodes=Cores"); err != nil {
		t.Fatal(err)
	}
	if got, _ := rows(t, "log.csv", odd, Options{Map: m, Strict: true}, RunTime, AllocatedProcessors); !slices.Equal(got, []string{"5400 4"}) {
		t.Errorf("%q", got)
	}
	if m, err = ParseMap("submit=Queued,run=Took:y,nodes=Cores"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(strings.NewReader(text), "log.csv", Options{Map: m}); err == nil || !strings.Contains(err.Error(), `has no column "Took:y", which is to be the run, and "y" is no unit`) {
		t.Error(err)
	}
	for bad, want := range map[string]string{"submit": "must be such as", "when=X": "must be one of job, submit", "nodes=X:h": "only times", "run=A,run=B": "given twice"} {
		if _, err := ParseMap(bad); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}

// Rows, times and columns that cannot be used are said.
func TestTable_SaysWhatItCannotUse(t *testing.T) {
	t.Parallel()
	text := "JobID|State|Submit|Start|End|ElapsedRaw|nodes|AllocCPUS\n" +
		"1|COMPLETED|2026-01-01T01:00:00|2026-01-01T00:50:00|2026-01-01T02:00:00|60|n[1-4]|\n" +
		"2|WEIRD|2026-01-01T01:00:00|2026-01-01T01:50:00|2026-01-01T01:20:00||2|4\n" +
		"3|COMPLETED|2026-01-01T01:00:00|2026-01-01T01:10:00|2026-01-01T01:20:00|600|2|4\n"
	_, said := rows(t, "x.sacct", text, Options{Strict: true}, JobNumber)
	for _, want := range []string{"1 job that began before the submit", "1 job that ended before the start", "column nodes: 1 value could not be read", "1 job with a state that is not known, status left open: WEIRD",
		"1 job left out that ran for a time that nothing says", "1 job without a number of processors"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	var wide strings.Builder
	wide.WriteString("Submit|ElapsedRaw|AllocCPUS")
	for i := range 200 {
		fmt.Fprintf(&wide, "|x%d", i)
	}
	_, said = rows(t, "x.sacct", wide.String()+"\n1|5|1"+strings.Repeat("|", 200)+"\n", Options{}, JobNumber)
	if !strings.Contains(said, "and 170 more") || len(said) > 1000 {
		t.Errorf("the list has a bound: %s", said)
	}
}

// A trace of no use says which column or field lacks.
func TestTrace_Useless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Submit|ElapsedRaw\n1769860800|5\n": "--map nodes=COLUMN",
		"Submit|AllocCPUS\n1769860800|5\n":  "--map run=COLUMN",
		times + "1|2|3|4|5\n":               "",
	} {
		if got := readTable(t, "x.sacct", text, Options{}).Useless(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := read1(t, "1 0 -1 5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n", Options{}).Useless(); !strings.Contains(got, "field 5") {
		t.Error(got)
	}
}

// Logs of other programs are recognised, and the way in is named.
func TestRead_NamesOtherFormatsAndTheWayIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"04/18/2022 02:10:12;E;15.srv;user=ana ctime=1650230000 start=1650230400 end=1650234000 Resource_List.ncpus=8\n": {"is no SWF", "PBS accounting log", "--map submit=ctime"},
		"\"JOB_FINISH\" \"10.1\" 1650230000 15 1001 33554438 4 1650220000\n":                                             {"LSF", "--map"},
		"all.q:node1:users:ana:job:15:sge:0:1650230000:1650230400:1650234000:0:0:3600:0:0:0.0:0:0\n":                     {"Grid Engine", "--map"},
		"# Version: 8\n# all.q\nall.q:node1:users:ana:job:15:sge:-5:1650230000:1650230400:1650234000:0:0\n":              {"Grid Engine"},
		"ClusterId = 12\nOwner = \"ana\"\n":                                                              {"HTCondor", "condor_history", "--map submit=QDate"},
		"000 (123.000.000) 2024-01-01 00:00:00 Job submitted from host\n":                                {"HTCondor"},
		`{"nb_res":4,"jobs":[{"id":1,"subtime":10,"walltime":100,"res":4,"profile":"d"}],"profiles":{}}`: {"Batsim"},
		`{"meta":{"slurm":{"release":"23.11.4"}},"jobs":[],"errors":[]}`:                                 {"JSON of Slurm", "sacct --parsable2"},
		`[{"ClusterId": 5, "QDate": 1}]`:                                                                 {"JSON of HTCondor"},
		`[{"a": 5}]`:                                                                                     {"looks like JSON", "--map"},
		"<?xml version=\"1.0\"?><jobs/>\n":                                                               {"XML"},
		"name = \"x\"\n[[site]]\n":                                                                       {"TOML", "bourse check"},
		"#!/bin/sh\necho hi\n":                                                                           {"a script"},
		"id,arrival time now,took,cores\n1,2,3,4\n":                                                      {"names no column Submit", "--map submit=COLUMN"},
		"1,0,5,100,4,-1\n2,0,5,100,4,-1\n":                                                               {"without a line of names"},
		"\xfd7zXZ\x00\x00\x04":                                                                           {"is xz", "xz -dc log > log.plain"},
	} {
		_, err := Read(strings.NewReader(text), "log", Options{})
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%.40q: %v, want %q", text, err, w)
			}
		}
	}
	if _, err := Read(strings.NewReader("Submit,ElapsedRaw,AllocCPUS\n1,2,3\n"), "log.swf", Options{}); err == nil || !strings.Contains(err.Error(), "--from csv") {
		t.Errorf("a table with the name of a log in SWF: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.swf.xz")
	if err := os.WriteFile(path, []byte("\xfd7zXZ\x00\x00\x04"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFeed(path, Options{}, JobOptions{}); err == nil || !strings.Contains(err.Error(), "xz -dc "+path+" > "+strings.TrimSuffix(path, ".xz")) {
		t.Error(err)
	}
}

// A log of a grid without its name's ending is known by its 29 columns.
func TestRead_AGridsLogIsKnownByItsColumns(t *testing.T) {
	t.Parallel()
	record := "1 0 10 150 4 -1 -1 4 400 -1 1 U1 G1 -1 Q1 -1 s1 s2" + strings.Repeat(" -1", 11) + "\n"
	for _, text := range []string{record, "# JobID SubmitTime\n" + record} {
		trace, err := Read(strings.NewReader(text), "log.txt", Options{Strict: true})
		if err != nil || trace.Beyond == nil {
			t.Errorf("%v", err)
		}
	}
}

// Every reader takes UTF-16 and byte order marks.
func TestRead_AnyEncoding(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a.swf": "; MaxProcs: 4\n" + line("1", "10", "7") + "\n", "a.csv": times + "1769860800|1769860801|1769860802|1|4\n",
		"a.gwf": "# x\n1 0 10 150 4 -1 -1 4 400 -1 1 U1 G1 -1 Q1 -1 s1 s2" + strings.Repeat(" -1", 11) + "\n",
	} {
		want := readTable(t, name, text, Options{Strict: true})
		var wide bytes.Buffer
		for _, c := range "\ufeff" + text {
			wide.Write([]byte{byte(c), byte(c >> 8)})
		}
		for kind, in := range map[string]string{"a mark": "\ufeff" + text, "UTF-16": wide.String()} {
			got := readTable(t, name, in, Options{Strict: true})
			if !slices.Equal(got.Records, want.Records) || !slices.Equal(got.Header.Lines, want.Header.Lines) {
				t.Errorf("%s with %s: %v", name, kind, got.Records)
			}
		}
	}
}
