package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// drain takes all jobs of a feed.
func drain(t *testing.T, file string, opt Options, jobs JobOptions) (list []grid.LocalJob, f *Feed) {
	t.Helper()
	f, err := OpenFeed(file, opt, jobs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	for j, ok := f.Next(); ok; j, ok = f.Next() {
		list = append(list, j)
	}
	return list, f
}

// records are lines of a trace in order, with some that are bad or dropped.
func records(n int) string {
	var b strings.Builder
	b.WriteString("; MaxProcs: 64\n; Note: a trace\n")
	for i := range n {
		switch {
		case i%997 == 5:
			b.WriteString("this is no record\n")
		case i%31 == 3:
			fmt.Fprintf(&b, "%d %d -1 -1 4 -1 -1 4 100 -1 0 1 1 -1 0 -1 -1 -1\n", i, i*10)
		default:
			fmt.Fprintf(&b, "%d %d.5 -1 %d %d -1 -1 4 %d -1 1 %d 1 -1 2 -1 -1 -1\n", i, i*10, i%500, i%60-1, i%400, i%9)
		}
	}
	return b.String()
}

func write(t *testing.T, name string, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	data := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(data); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The whole trace, read by Open, is the naive twin of the feed.
func TestFeed_HandsOutTheJobsOfTheWholeTrace(t *testing.T) {
	t.Parallel()
	text := records(9_000)
	for _, file := range []string{write(t, "a.swf", text), write(t, "a.swf.gz", text), write(t, "b.swf", strings.TrimSuffix(text, "\n"))} {
		for _, opt := range []Options{{}, {Skip: 3000}} {
			for _, jobs := range []JobOptions{{}, {KeepZero: true}, {Extend: true}, {Span: grid.Day}} {
				whole, err := Open(file, opt)
				if err != nil {
					t.Fatal(err)
				}
				want, tally := whole.Jobs(jobs)
				got, f := drain(t, file, opt, jobs)
				trace, n, counted, err := f.End()
				if err != nil || !slices.Equal(got, want) || counted != tally || n != len(whole.Records) {
					t.Errorf("%+v %+v: %d jobs of %d records, %+v, error %v; the whole trace has %d of %d, %+v", opt, jobs, len(got), n, counted, err, len(want), len(whole.Records), tally)
				}
				if !slices.Equal(trace.Remarks(), whole.Remarks()) || !reflect.DeepEqual(f.Header, whole.Header) {
					t.Errorf("%+v %+v: the remarks are %v, the header %v", opt, jobs, trace.Remarks(), f.Header)
				}
			}
		}
	}
}

func TestFeed_SaysThatATraceIsNotInOrder(t *testing.T) {
	t.Parallel()
	record := func(submit int) string { return fmt.Sprintf("1 %d -1 5 4 -1 -1 4 9 -1 1 1 1 -1 0 -1 -1 -1\n", submit) }
	long := strings.Repeat(record(7), 10_000)
	for name, text := range map[string]string{
		"at once": record(2) + record(1), "later": long + record(1), "a late comment": long + "; MaxProcs: 64\n" + record(8),
	} {
		_, f := drain(t, write(t, "a.swf", text), Options{}, JobOptions{})
		if _, _, _, err := f.End(); !errors.Is(err, ErrNotInOrder) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The feed refuses the same traces as Open, in the same words.
func TestFeed_RefusesWhatTheWholeTraceDoes(t *testing.T) {
	t.Parallel()
	text := records(9000)
	cut := write(t, "cut.swf.gz", text)
	data, err := os.ReadFile(cut)
	if err != nil || os.WriteFile(cut, data[:len(data)/2], 0o600) != nil {
		t.Fatal(err)
	}
	for file, opt := range map[string]Options{
		write(t, "bad.swf", text): {Strict: true}, cut: {}, write(t, "none.swf", "; nothing\n"): {}, write(t, "skipped.swf", text): {Skip: 20_000},
	} {
		_, want := Open(file, opt)
		_, f := drain(t, file, opt, JobOptions{})
		if _, _, _, err := f.End(); want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%s: error %v, of the whole trace %v", filepath.Base(file), err, want)
		}
	}
	plain := filepath.Join(t.TempDir(), "not.gz")
	if err := os.WriteFile(plain, []byte("\x1f\x8b\x08"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{t.TempDir(), plain, filepath.Join(t.TempDir(), "absent.swf")} {
		_, want := Open(file, Options{})
		if _, err := OpenFeed(file, Options{}, JobOptions{}); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: error %v, of the whole trace %v", file, err, want)
		}
	}
}

// A feed can be closed at any point.
func TestFeed_ClosesInTheMiddle(t *testing.T) {
	t.Parallel()
	f, err := OpenFeed(write(t, "a.swf.gz", records(60_000)), Options{}, JobOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if j, ok := f.Next(); !ok || j.Submit != 10_500 {
		t.Errorf("the first job is %+v", j)
	}
	f.Close()
}
