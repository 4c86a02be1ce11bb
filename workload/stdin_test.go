package workload

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// A pipe has no name to tell the format and the compression by.
func TestOpen_StandardInputIsInflatedByWhatItHolds(t *testing.T) {
	t.Parallel()
	const log = "; MaxProcs: 4\n1 100 -1 50 2 -1 -1 2 40 -1 1 1 1 1 1 -1 -1 -1\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(log)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{"plain": log, "gzip": zipped.String()} {
		got, err := openStdin(strings.NewReader(in), Options{})
		if err != nil || len(got.Records) != 1 || got.Header.Processors() != 4 {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	if _, err := openStdin(strings.NewReader(""), Options{}); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("nothing: %v", err)
	}
}

// Two jobs of 4 and 4 overlap for a second of a hundred: the log has a job twice.
func TestTrace_SizeIsWhatSufficedMostOfTheTime(t *testing.T) {
	t.Parallel()
	got, err := Read(strings.NewReader("1 0 0 50 4 -1 -1 4 50 -1 1 1 1 1 1 -1 -1 -1\n2 49 0 51 4 -1 -1 4 51 -1 1 1 1 1 1 -1 -1 -1\n"), "log", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p, s := got.Peak(), got.Size(.95); p != 8 || s != 4 {
		t.Errorf("peak %d, size %d, want 8 and 4", p, s)
	}
	if s := got.Size(.01); s != 4 {
		t.Errorf("size %d is below the widest job, 4", s)
	}
}
