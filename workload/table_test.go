package workload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// dump is what sacct --parsable2 --allusers --duplicates prints of a small cluster.
const dump = `JobID|JobIDRaw|User|Account|Partition|QOS|JobName|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|AllocTRES|State|MaxRSS
101|101|ana|phys|batch|normal|run me|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:10:00|2026-01-31T13:10:00|3600|120|8|8|billing=8,cpu=8,mem=16G,node=1|COMPLETED|
101.batch|101.batch||phys|||batch|2026-01-31T12:10:00|2026-01-31T12:10:00|2026-01-31T12:10:00|2026-01-31T13:10:00|3600||8|8|cpu=8,mem=16G,node=1|COMPLETED|12000K
102|102|ben|chem|batch|normal|x|2026-01-31T11:59:00|2026-01-31T12:30:00|2026-01-31T12:30:30|2026-01-31T12:31:30|60|UNLIMITED|4|4|cpu=4|TIMEOUT|
103|103|ana|phys|long|normal|x|2026-01-31T12:05:00|2026-01-31T12:05:00|None|2026-01-31T12:06:00|0|60|16|0||CANCELLED by 1000|
104|104|ana|phys|long|normal|x|2026-01-31T12:07:00|2026-01-31T12:07:00|2026-01-31T12:08:00|Unknown|900|60|16|16|cpu=16|RUNNING|
`

func readTable(t *testing.T, name, text string, opt Options) *Trace {
	t.Helper()
	trace, err := Read(strings.NewReader(text), name, opt)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// fieldsOf are some fields of a record as SWF writes them.
func fieldsOf(r Record, list ...Field) string {
	var out []string
	for _, f := range list {
		out = append(out, r[f].String())
	}
	return strings.Join(out, " ")
}

func TestTable_ReadsWhatSacctPrints(t *testing.T) {
	t.Parallel()
	trace := readTable(t, "march.sacct", dump, Options{Strict: true})
	want := []string{ // number, submit, wait, run, allocated, requested, estimate, status, user, group, name, queue, partition
		"101 0 600 3600 8 8 7200 1 1 1 1 1 1",
		"103 300 -1 0 -1 16 3600 5 1 1 2 1 2",
		"102 1800 30 60 4 4 -1 0 2 2 2 1 1",
	}
	var got []string
	for _, r := range trace.Records {
		got = append(got, fieldsOf(r, JobNumber, SubmitTime, WaitTime, RunTime, AllocatedProcessors, RequestedProcessors, RequestedTime, Status,
			UserID, GroupID, Executable, QueueNumber, PartitionNumber))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).Unix()
	if base, _ := trace.Header.Int("UnixStartTime"); base != at || trace.Header.Get("TimeZoneString") != "UTC" {
		t.Errorf("the clock begins at %d in %s; want %d in UTC", base, trace.Header.Get("TimeZoneString"), at)
	}
	if n := trace.Header.Names("Partition"); len(n) != 2 || n[1] != (Name{2, "long"}) {
		t.Errorf("partitions are %v", n)
	}
	said := strings.Join(trace.Remarks(), "\n")
	for _, want := range []string{"column Eligible: submit time where later than Submit", "not read: MaxRSS", "1 step of jobs left out", "1 job left out that had not ended"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

func TestTable_TakesAnyColumnsInAnyOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"lengths as words": {"Elapsed|Submit|Start|Timelimit|NNodes|JobID\n1-02:03:04|2026-01-31T12:00:00|2026-01-31T12:00:07|2-00:00:00|3|7\n", "7 0 7 93784 3 172800"},
		"an end":           {"Submit|Start|End|NCPUS\n2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:01:00|2\n", "1 0 0 60 2 -1"},
		"seconds":          {"Submit|Start|End|AllocTRES\n1769860800|1769860801|1769860802|node=1,cpu=12\n", "1 0 1 1 12 -1"},
		"--parsable":       {"Submit|ElapsedRaw|AllocCPUS|JobIDRaw|\n1769860800|5|1|9|\n", "9 0 -1 5 1 -1"},
		"lower case, CRLF": {"submit|elapsedraw|alloccpus\r\n1769860800|5|1\r\n", "1 0 -1 5 1 -1"},
		"names of SWF":     {"job_number|submit_time|run_time|Requested Processors|requested_time\n4|17|30.5|2|60\n", "4 17 -1 30.5 -1 60"},
		"an array's job":   {"JobID|Submit|ElapsedRaw|AllocCPUS\n12_3|1769860800|5|1\n", "1 0 -1 5 1 -1"},
	} {
		trace := readTable(t, "x.sacct", c.text, Options{Strict: true})
		if got := fieldsOf(trace.Records[0], JobNumber, SubmitTime, WaitTime, RunTime, AllocatedProcessors, RequestedTime); got != c.want {
			t.Errorf("%s: got %s; want %s", name, got, c.want)
		}
	}
}

// Times that say no zone are of the cluster's, summer and winter.
func TestTable_TimesAreOfTheClustersZone(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	text := "Submit|ElapsedRaw|AllocCPUS\n2026-03-29T01:59:00|5|1\n2026-03-29T03:01:00|5|1\n2026-03-29T01:03:00Z|5|1\n"
	trace := readTable(t, "x.sacct", text, Options{Zone: berlin, Strict: true})
	got := [3]string{}
	for i, r := range trace.Records {
		got[i] = r[SubmitTime].String()
	}
	if got != [3]string{"0", "120", "240"} {
		t.Errorf("submits are %v; want 0, 120 and 240: the hour between is none", got)
	}
}

// A number of minutes or seconds may have decimals: a minute and a half is 90 s, not 60.
func TestTable_ANumberOfMinutesMayHaveDecimals(t *testing.T) {
	t.Parallel()
	trace := readTable(t, "x.sacct", "Submit|ElapsedRaw|Timelimit|AllocCPUS\n1769860800|5.5|1.5|1\n", Options{Strict: true})
	r := trace.Records[0]
	if run, asked := r[RunTime].String(), r[RequestedTime].String(); run != "5.5" || asked != "90" {
		t.Errorf("ran %s s of %s s; want 5.5 of 90", run, asked)
	}
}

func TestTable_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"101|ana|COMPLETED\n":                                       "x.sacct:1: names no column Submit",
		"JobID^Submit^AllocCPUS\n1^2^3\n":                           "x.sacct:1: has columns parted by \"^\"; must be",
		"JobID||Submit||AllocCPUS\n1||2||3\n":                       "x.sacct:1: has columns parted by \"||\"; must be",
		"; MaxProcs: 8\n1 0 5 100 4 -1\n":                           "read it with --from swf",
		"Submit|submit\n1|2\n":                                      "x.sacct:1: has the column \"submit\" twice",
		"Submit|User\n2026-01-31T12:00:00\n":                        "x.sacct:2: has 1 columns, must have the 2",
		"Submit|AllocCPUS\n31.1.2026|4\n":                           "x.sacct:2: Submit \"31.1.2026\" is no time",
		"Submit|Elapsed\n1769860800|an hour\n":                      "x.sacct:2: Elapsed \"an hour\" is no length of time",
		"Submit|Elapsed\n1769860800|1:2:3:4\n":                      "is no length of time",
		"Submit|ReqCPUS\n1769860800|many\n":                         "requested processors \"many\" is not a whole number",
		"Submit|State\n1769860800|PENDING\n":                        "has no record",
		"Submit|AllocCPUS\nUnknown|4\n":                             "submit time -1: must be",
		"Submit|" + strings.Repeat("x|", maxColumns) + "\n":         "must have 512 at most",
		"Submit|Timelimit|AllocCPUS\n1769860800|5000000-00:00:00|4": "is beyond 10^10 seconds",
	} {
		if _, err := Read(strings.NewReader(text), "x.sacct", Options{Strict: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v; want %q", text, err, want)
		}
	}
}

// The dump as a table of Parquet gives the records of the dump.
func TestTable_ParquetSaysTheSame(t *testing.T) {
	t.Parallel()
	type row struct {
		JobIDRaw  string    `parquet:"JobIDRaw"`
		User      *string   `parquet:"User,optional"`
		Submit    time.Time `parquet:"Submit,timestamp(microsecond)"`
		Start     time.Time `parquet:"Start,timestamp(nanosecond)"`
		Elapsed   float64   `parquet:"ElapsedRaw"`
		Limit     *int64    `parquet:"TimelimitRaw,optional"`
		AllocCPUS int32     `parquet:"AllocCPUS"`
		State     string    `parquet:"State,dict"`
		Nodes     []string  `parquet:"NodeList"`
	}
	ana, limit, noon := "ana", int64(120), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "march.parquet")
	err := parquet.WriteFile(path, []row{
		{"7", &ana, noon, noon.Add(time.Minute), 3600, &limit, 8, "COMPLETED", []string{"n1", "n2"}},
		{"7.batch", nil, noon, noon, 3600, nil, 8, "COMPLETED", nil},
		{"8", nil, noon.Add(1500 * time.Millisecond), noon.Add(time.Minute), 10, nil, 4, "FAILED", nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(path, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	want := readTable(t, "x.sacct", "JobIDRaw|User|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|State\n"+
		"7|ana|2026-01-31T12:00:00|2026-01-31T12:01:00|3600|120|8|COMPLETED\n8||1769860801.5|2026-01-31T12:01:00|10||4|FAILED\n", Options{})
	if !slices.Equal(got.Records, want.Records) || !slices.Equal(got.Header.Lines, want.Header.Lines) {
		t.Errorf("got\n%v %q\nwant\n%v %q", got.Records, got.Header.Lines, want.Records, want.Header.Lines)
	}
	if err := os.Truncate(path, 300); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "is no Parquet file") {
		t.Errorf("half a file: %v", err)
	}
}

func FuzzTable(f *testing.F) {
	f.Add(dump)
	f.Add("Submit|Elapsed|Timelimit|ReqTRES\n1769860800|1-02:03:04.5|UNLIMITED|cpu=3\n")
	f.Add("submit_time|run_time|\n1|2|\n")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := Read(strings.NewReader(text), "x.sacct", Options{})
		if err != nil {
			return
		}
		var out strings.Builder
		if err := Write(&out, trace); err != nil {
			t.Fatal(err)
		}
		again, err := Read(strings.NewReader(out.String()), "x.swf", Options{Strict: true})
		if err != nil || !slices.Equal(again.Records, trace.Records) {
			t.Fatalf("what is written does not come back: %v\n%s", err, out.String())
		}
	})
}

func FuzzParquet(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.parquet")
	if err := parquet.WriteFile(path, []struct{ Submit, ElapsedRaw int64 }{{1769860800, 5}, {1769860801, 6}}); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte("PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if trace, err := Open(path, Options{}); err == nil && len(trace.Records) == 0 {
			t.Fatal("no record and no error")
		}
	})
}

// A column without a name, as of row numbers, is passed over in silence.
func TestTable_AColumnWithoutANameIsPassedOver(t *testing.T) {
	t.Parallel()
	trace := readTable(t, "x.csv", ",submit,run,cores,colour\n0,1767222000,60,8,red\n", Options{Strict: true})
	if said := strings.Join(trace.Remarks(), "\n"); !strings.Contains(said, "not read: colour") || len(trace.Records) != 1 {
		t.Errorf("%d records, %s", len(trace.Records), said)
	}
}
