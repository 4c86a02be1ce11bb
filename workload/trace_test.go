package workload

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// trace returns the path of a real trace, or skips the test.
func trace(tb testing.TB, name string) string {
	path := filepath.Join("..", "..", "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no traces here: %v", err)
	}
	return path
}

func open(tb testing.TB, name string, opt Options) *Trace {
	tb.Helper()
	t, err := Open(trace(tb, name), opt)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

const (
	sdsc = "SDSC-SP2-1998-4.2-cln.swf.gz"
	ctc  = "CTC-SP2-derived.swf.gz"
	kth  = "KTH-SP2-1996-2.1-cln.swf.gz"
	lcg  = "LCG-2005-1.swf.gz"
)

func TestOpen_SDSCCounts(t *testing.T) {
	t.Parallel()
	tr := open(t, sdsc, Options{Strict: true})
	if len(tr.Records) != 59715 || tr.BadCount != 0 || tr.Backwards != 0 {
		t.Fatalf("%d records, %d bad, %d backwards", len(tr.Records), tr.BadCount, tr.Backwards)
	}
	if p := tr.Header.Processors(); p != 128 {
		t.Errorf("header has %d processors", p)
	}
	if q := tr.Header.Names("Queue"); len(q) != 7 || q[3] != (Name{3, "normal"}) {
		t.Errorf("queues %v", q)
	}
	jobs, tally := tr.Jobs(JobOptions{})
	if len(jobs) != 54034 || tally.Jobs != 54034 || tally.NeverRan != 5681 || tally.NoProcessors != 0 {
		t.Errorf("%d jobs, %+v", len(jobs), tally)
	}
	_, tally = tr.Jobs(JobOptions{Span: 30 * grid.Day, KeepZero: true})
	if tally.Jobs != 2887 || tally.Later != 59715-2887 {
		t.Errorf("first 30 days: %+v", tally)
	}
}

func TestOpen_CTCIsSortedAfterTheSkip(t *testing.T) {
	t.Parallel()
	tr := open(t, ctc, Options{Skip: 3})
	if len(tr.Records) != 77199-3 || tr.Backwards != 29952 {
		t.Fatalf("%d records, %d backwards", len(tr.Records), tr.Backwards)
	}
	if jobs, _ := tr.Jobs(JobOptions{Span: 30 * grid.Day}); len(jobs) != 7583 {
		t.Errorf("%d jobs in 30 days", len(jobs))
	}
	_, err := Open(trace(t, ctc), Options{Skip: 3, Strict: true})
	if err == nil || !strings.Contains(err.Error(), ctc+":15: runs backwards: submit 310541 after 332172 of line 14") {
		t.Errorf("strict: %v", err)
	}
}

func TestOpen_KTHCounts(t *testing.T) {
	t.Parallel()
	tr := open(t, kth, Options{Strict: true})
	if n, ok := tr.Header.Int("MaxRecords"); len(tr.Records) != 27992 || n != 28476 || !ok {
		t.Errorf("%d records, header %d", len(tr.Records), n)
	}
}

func TestPartitions_LCGHas170Sites(t *testing.T) {
	t.Parallel()
	tr := open(t, lcg, Options{Strict: true})
	parts := tr.Partitions()
	if len(tr.Records) != 188041 || len(parts) != 170 {
		t.Fatalf("%d records, %d partitions", len(tr.Records), len(parts))
	}
	n := 0
	for i, p := range parts {
		if i > 0 && parts[i-1].Number >= p.Number {
			t.Errorf("partition %d after %d", p.Number, parts[i-1].Number)
		}
		n += len(p.Trace.Records)
	}
	if n != len(tr.Records) || parts[0].Name != "grid.ici.ro" {
		t.Errorf("%d records in partitions, the first is %q", n, parts[0].Name)
	}
}

func TestWrite_ReadBackIsEqual(t *testing.T) {
	t.Parallel()
	for _, name := range []string{sdsc, ctc, kth} {
		tr := open(t, name, Options{})
		var b bytes.Buffer
		if err := Write(&b, tr); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&b, name, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, tr, back)
	}
}

func same(t interface{ Fatalf(string, ...any) }, a, b *Trace) {
	if len(a.Records) != len(b.Records) || len(a.Header.Lines) != len(b.Header.Lines) {
		t.Fatalf("%d records and %d header lines became %d and %d", len(a.Records), len(a.Header.Lines), len(b.Records), len(b.Header.Lines))
	}
	for i := range a.Records {
		if a.Records[i] != b.Records[i] {
			t.Fatalf("record %d was %v and is %v", i, a.Records[i], b.Records[i])
		}
	}
	for i, l := range a.Header.Lines {
		if l != b.Header.Lines[i] {
			t.Fatalf("header line %d was %q and is %q", i, l, b.Header.Lines[i])
		}
	}
}

func BenchmarkOpenJobs_SDSC59715(b *testing.B) {
	path := trace(b, sdsc)
	b.ReportAllocs()
	for b.Loop() {
		t, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		t.Jobs(JobOptions{})
	}
}
