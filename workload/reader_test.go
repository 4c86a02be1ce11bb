package workload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// line is a record with that job number, submit and run.
func line(job, submit, run string) string {
	return fmt.Sprintf("%s %s 5 %s 4 -1 -1 8 100 -1 1 3 1 -1 2 -1 -1 -1", job, submit, run)
}

func read1(t *testing.T, text string, opt Options) *Trace {
	t.Helper()
	tr, err := Read(strings.NewReader(text), "a.swf", opt)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestRead_FieldsAreKeptToTheLastZero(t *testing.T) {
	t.Parallel()
	const fields = "1 0 -1 259.00 4 -0.50 12345678901234567 +8 1e3 2.5e-3 1 007 1 -1 2 .5 5. -1"
	tr := read1(t, fields, Options{})
	const want = "1 0 -1 259.00 4 -0.50 12345678901234567 8 1000 0.0025 1 7 1 -1 2 0.5 5 -1\n"
	var b bytes.Buffer
	if err := Write(&b, tr); err != nil || b.String() != want {
		t.Errorf("%v\n%s%s", err, b.String(), want)
	}
}

func TestRead_LineEndsAndBlanksOfAllKinds(t *testing.T) {
	t.Parallel()
	a, b := line("1", "10", "7"), line("2", "20", "7")
	for _, text := range []string{
		a + "\n" + b + "\n",
		a + "\r\n" + b + "\r\n",
		a + "\n" + b,
		"\n  \n\t" + strings.ReplaceAll(a, " ", " \t ") + "\r\n\r\n; note\n" + b + "\r",
	} {
		tr := read1(t, text, Options{Strict: true})
		if len(tr.Records) != 2 || tr.Records[1].Submit() != 20_000 {
			t.Errorf("%q: %d records", text, len(tr.Records))
		}
	}
}

func TestRead_BadLinesAreCountedByNumberAndStrictRefuses(t *testing.T) {
	t.Parallel()
	good := line("1", "10", "7")
	for _, c := range []struct{ bad, why string }{
		{"1 2 3", "has 3 fields, must have 18"},
		{good + " 19", "has more than 18 fields"},
		{line("1", "ten", "7"), `field 2 (submit time) "ten" is not a number`},
		{line("1", "1e", "7"), `field 2 (submit time) "1e" is not a number`},
		{line("1", "NaN", "7"), `field 2 (submit time) "NaN" is not a number`},
		{line("1", "1.2.3", "7"), `field 2 (submit time) "1.2.3" is not a number`},
		{line("1", "-", "7"), `field 2 (submit time) "-" is not a number`},
		{line("1", ".", "7"), `field 2 (submit time) "." is not a number`},
		{line("123456789012345678", "1", "7"), `field 1 (job number) "123456789012345678" is not a number of at most 17 digits`},
		{line("1", "-1", "7"), "submit time -1: must be a time of 0 or later"},
		{line("1", "-0.5", "7"), "submit time -0.5: must be a time of 0 or later"},
		{line("1", "10000000000.5", "7"), "submit time 10000000000.5 is beyond 10^10 seconds"},
		{line("1", "1", "1e11"), "run time 100000000000 is beyond 10^10 seconds"},
		{strings.Replace(good, " 4 ", " 9999999999 ", 1), "allocated processors 9999999999 is beyond 2^30"},
		{strings.Repeat("1 ", maxLine), "is longer than 65536 bytes"},
		{"\x00\xff binary", "field 1 (job number)"},
	} {
		text := "; head\n" + good + "\n" + c.bad + "\n" + good + "\n"
		tr := read1(t, text, Options{})
		if tr.BadCount != 1 || len(tr.Bad) != 1 || tr.Bad[0].Line != 3 || !strings.Contains(tr.Bad[0].Why, c.why) || len(tr.Records) != 2 {
			t.Errorf("%.40q: %d bad, %v", c.bad, tr.BadCount, tr.Bad)
		}
		_, err := Read(strings.NewReader(text), "a.swf", Options{Strict: true})
		if err == nil || !strings.Contains(err.Error(), "a.swf:3: "+c.why) {
			t.Errorf("strict: %v", err)
		}
	}
	tr := read1(t, good+"\n"+strings.Repeat("bad\n", 100), Options{})
	if tr.BadCount != 100 || len(tr.Bad) != MaxBad {
		t.Errorf("%d bad, %d remembered", tr.BadCount, len(tr.Bad))
	}
}

func TestRead_BackwardRecordsAreSortedStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		submits := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 50).Draw(t, "submits")
		var b strings.Builder
		backwards := 0
		for i, s := range submits {
			fmt.Fprintln(&b, line(fmt.Sprint(i), fmt.Sprint(s), "1"))
			if i > 0 && s < submits[i-1] {
				backwards++
			}
		}
		tr, err := Read(strings.NewReader(b.String()), "a.swf", Options{})
		if err != nil || tr.Backwards != backwards {
			t.Fatalf("%v, %d backwards, want %d", err, tr.Backwards, backwards)
		}
		seen := make(map[int64]bool)
		for i := range tr.Records {
			r := &tr.Records[i]
			job := r[JobNumber].Whole()
			if int(r[SubmitTime].Whole()) != submits[job] || seen[job] {
				t.Fatalf("record %d is job %d with submit %v", i, job, r[SubmitTime])
			}
			seen[job] = true
			if i > 0 {
				before := &tr.Records[i-1]
				if before.Submit() > r.Submit() || before.Submit() == r.Submit() && before[JobNumber] > r[JobNumber] {
					t.Fatalf("job %v stands before job %d", before[JobNumber], job)
				}
			}
		}
		_, err = Read(strings.NewReader(b.String()), "a.swf", Options{Strict: true})
		if (err != nil) != (backwards > 0) {
			t.Fatalf("strict with %d backwards: %v", backwards, err)
		}
	})
}

func TestRead_SkipCountsRecordsGoodOrBadBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	text := "; c\nbad\n" + line("1", "50", "1") + "\n; c\n" + line("2", "10", "1") + "\n"
	tr := read1(t, text, Options{Strict: true, Skip: 2})
	if len(tr.Records) != 1 || tr.Records[0][JobNumber] != Int(2) || len(tr.Header.Lines) != 2 {
		t.Errorf("%d records", len(tr.Records))
	}
	_, err := Read(strings.NewReader(text), "a.swf", Options{Skip: 5})
	if err == nil || err.Error() != "a.swf: has no record left after the first 3" {
		t.Error(err)
	}
	if _, err = Read(strings.NewReader(text), "a.swf", Options{Skip: -1}); err == nil {
		t.Error("-1 records are skipped")
	}
}

func TestRead_ATraceWithoutRecordsIsAnError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                   "a.swf: has no record",
		"; only a header":    "a.swf: has no record",
		"name and nothing\n": "a.swf:1: field 1 (job number) \"name\" is not a number of at most 17 digits; no line is a record of 18 numbers",
		"\x1f\x8b\x08\n":     "a.swf: is damaged: unexpected EOF",
	} {
		if _, err := Read(strings.NewReader(text), "a.swf", Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	long := strings.Repeat("; "+strings.Repeat("x", 1000)+"\n", maxHeader/1000)
	if _, err := Read(strings.NewReader(long), "a.swf", Options{}); err == nil || !strings.Contains(err.Error(), "bytes of comments") {
		t.Error(err)
	}
}

func TestRead_ChunksOfAnySizeAreTheSame(t *testing.T) {
	t.Parallel()
	text := "; MaxProcs: 9\r\n" + line("1", "10.25", "7") + "\nbad\n" + line("2", "5", "7") + "\n" + strings.Repeat("7", maxLine+1) + "\n" + line("3", "30", "7")
	want := read1(t, text, Options{})
	for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		got, err := Read(r, "a.swf", Options{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, got)
		if fmt.Sprint(got.Bad) != fmt.Sprint(want.Bad) || got.BadCount != 2 || got.Backwards != 1 {
			t.Errorf("%v", got.Bad)
		}
	}
	if _, err := Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text))), "a.swf", Options{}); err == nil {
		t.Error("a failed read is taken for the end")
	}
}

func TestOpen_GzipByItsFirstBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintln(&text, line(fmt.Sprint(i), fmt.Sprint(i*37), fmt.Sprint(i%991)))
	}
	want := read1(t, text.String(), Options{})
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, text.String())
	w.Close()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, data := range map[string][]byte{"a.swf.gz": z.Bytes(), "zipped.swf": z.Bytes(), "plain.swf.gz": []byte(text.String())} {
		got, err := Open(write(name, data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, got)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"cut.swf.gz":  {z.Bytes()[:z.Len()-100], "breaks off; get the whole file again"},
		"sum.swf.gz":  {append(bytes.Clone(z.Bytes()[:z.Len()-8]), 1, 2, 3, 4, 5, 6, 7, 8), "checksum"},
		"damaged.swf": {[]byte("\x1f\x8b\x08"), "is damaged"},
	} {
		path := write(name, c.data)
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "absent.swf"), Options{}); err == nil {
		t.Error("an absent file is read")
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "is a folder; must be a trace file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestOpen_AnErrorLeavesNoGoroutine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.swf.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, "bad\n"+strings.Repeat(line("1", "1", "1")+"\n", 50_000))
	w.Close()
	if err := os.WriteFile(path, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 50 {
		if _, err := Open(path, Options{Strict: true}); err == nil {
			t.Fatal("strict reading takes a bad line")
		}
	}
	for end := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before+10; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestHeader_KeysAreFoundWhateverTheirCase(t *testing.T) {
	t.Parallel()
	tr := read1(t, "; Computer: IBM SP2: wide\n;MaxProcs: 128 (of 130)\n; MaxNodes: -1\n;   Queue: 9 continued\n; queue:  3  normal  \n; Queue: x y\n;\n; just: \n"+line("1", "1", "1"), Options{})
	h := &tr.Header
	if got := h.Get("computer"); got != "IBM SP2: wide" {
		t.Errorf("%q", got)
	}
	if n, ok := h.Int("MaxProcs"); n != 128 || !ok || h.Processors() != 128 {
		t.Errorf("%d", n)
	}
	if _, ok := h.Int("UnixStartTime"); ok {
		t.Error("an absent key has a number")
	}
	if q := h.Names("Queue"); len(q) != 1 || q[0] != (Name{3, "normal"}) {
		t.Errorf("%v", q)
	}
}

// The mean covers the kept jobs whose record says how long they waited: 10, 20 and 0 s
// here. It uses the run of the log, not the run after a cut.
func TestJobs_WhatTheLogSaysOfWaits(t *testing.T) {
	t.Parallel()
	rec := func(wait, run, estimate string) string {
		return fmt.Sprintf("9 100 %s %s 1 -1 -1 1 %s -1 1 7 -1 -1 -1 -1 -1 -1\n", wait, run, estimate)
	}
	tr := read1(t, rec("10", "20", "60")+rec("20", "100", "60")+rec("0", "5", "60")+
		rec("-1", "50", "60")+ // not known
		rec("1000", "0", "60"), Options{}) // never ran
	_, tally := tr.Jobs(JobOptions{})
	l := tally.Logged
	if l.Jobs != 3 || l.MeanWait() != 10 || math.Abs(l.BoundedSlowdown()-(1.5+1.2+1)/3) > 1e-12 {
		t.Errorf("%d jobs, mean wait %v s, slowdown %v", l.Jobs, l.MeanWait(), l.BoundedSlowdown())
	}
	if none := (Logged{}); none.MeanWait() != 0 || none.BoundedSlowdown() != 0 {
		t.Error("of no jobs there is a mean")
	}
}

func TestJobs_RulesOfTheRecords(t *testing.T) {
	t.Parallel()
	rec := func(submit, run, alloc, req, estimate string) string {
		return fmt.Sprintf("9 %s -1 %s %s -1 -1 %s %s -1 1 7 -1 -1 -1 -1 -1 -1\n", submit, run, alloc, req, estimate)
	}
	tr := read1(t, rec("100", "50", "4", "8", "60")+ // as it stands
		rec("110", "50.5", "-1", "8", "-1")+ // requested processors, run for the estimate
		rec("120", "90", "2", "2", "60")+ // overrun
		rec("130", "0", "2", "2", "60")+ // never ran
		rec("140", "-1", "2", "2", "60")+ // never ran
		rec("150", "9", "-1", "0", "60")+ // no processors
		rec("200", "9", "1", "1", "60"), Options{}) // 100 s after the first: outside a span of 100 s
	jobs, tally := tr.Jobs(JobOptions{Span: 100 * grid.Second})
	tally.Logged = Logged{} // TestJobs_WhatTheLogSaysOfWaits
	if want := (Tally{Jobs: 3, Later: 1, NeverRan: 2, NoProcessors: 1, NoEstimate: 1, Cut: 1}); tally != want {
		t.Errorf("%+v, want %+v", tally, want)
	}
	want := []grid.LocalJob{
		{ID: 9, Submit: 100_000, Run: 50_000, Estimate: 60_000, Nodes: 4, User: 7},
		{ID: 9, Submit: 110_000, Run: 50_500, Estimate: 50_500, Nodes: 8, User: 7},
		{ID: 9, Submit: 120_000, Run: 60_000, Estimate: 60_000, Nodes: 2, User: 7},
	}
	for i := range want {
		if i >= len(jobs) || jobs[i] != want[i] {
			t.Fatalf("%+v", jobs)
		}
	}
	jobs, tally = tr.Jobs(JobOptions{KeepZero: true, Extend: true})
	if len(jobs) != 6 || tally.NeverRan != 2 || tally.Cut != 0 || jobs[2].Run != 90_000 || jobs[4].Run != 0 || jobs[4].Estimate != 60_000 {
		t.Errorf("%+v, %+v", tally, jobs)
	}
}

func TestWriteFile_NothingHalfWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.swf")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := &Trace{Header: Header{Lines: []string{"no comment"}}}
	if err := WriteFile(path, bad); err == nil || !strings.Contains(err.Error(), "is no comment") {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "before" {
		t.Errorf("a failed write left %q", b)
	}
	good := read1(t, "; MaxProcs: 4\n"+line("1", "1", "1"), Options{})
	for _, name := range []string{path, path + ".GZ"} {
		if err := WriteFile(name, good); err != nil {
			t.Fatal(err)
		}
		back, err := Open(name, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, good, back)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("%v", files)
	}
	if err := WriteFile(dir, good); err == nil {
		t.Error("a folder is replaced")
	}
	link := filepath.Join(dir, "link.swf")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, good); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link itself was replaced")
	}
}

func TestRemarks_SayWhatWasMended(t *testing.T) {
	t.Parallel()
	tr := read1(t, line("1", "9", "1")+"\n"+strings.Repeat("bad\n", 9)+line("2", "8", "1"), Options{})
	lines := tr.Remarks()
	if len(lines) != 11 || !strings.HasPrefix(lines[0], "a.swf:2: ") || lines[9] != "a.swf: 9 bad lines in all left out" ||
		lines[10] != "a.swf: runs backwards at 1 records; sorted by submit" {
		t.Errorf("%q", lines)
	}
	if lines := read1(t, line("1", "9", "1"), Options{}).Remarks(); lines != nil {
		t.Errorf("%q", lines)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("; MaxProcs: 4\n"+line("1", "10", "7")+"\r\n"+line("2", "5.250", "1e2")), false, uint8(0))
	f.Add([]byte("; a\n;b: c\n\n"+line("+1", ".5", "-0.0")+"\nbad\n"), true, uint8(1))
	f.Add([]byte(line("12345678901234567", "0.00000000000000000000000000000000001", "9.99999999999999999999")), false, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, strict bool, skip uint8) {
		opt := Options{Strict: strict, Skip: int(skip)}
		tr, err := Read(bytes.NewReader(data), "f", opt)
		if err != nil {
			return
		}
		if strict && (tr.BadCount > 0 || tr.Backwards > 0) {
			t.Fatalf("strict reading mends: %d bad, %d backwards", tr.BadCount, tr.Backwards)
		}
		jobs, tally := tr.Jobs(JobOptions{KeepZero: true})
		if len(jobs)+tally.NoProcessors != len(tr.Records) {
			t.Fatalf("%d jobs, %+v of %d records", len(jobs), tally, len(tr.Records))
		}
		for i, j := range jobs {
			if j.Nodes < 1 || j.Run < 0 || j.Run > j.Estimate || j.Submit < 0 || i > 0 && j.Submit < jobs[i-1].Submit {
				t.Fatalf("job %+v", j)
			}
		}
		var b bytes.Buffer
		if err := Write(&b, tr); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&b, "f", Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, tr, back)
	})
}
