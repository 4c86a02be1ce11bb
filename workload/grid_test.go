package workload

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a log of a grid: two users by name, sites by name, a record without a
// partition that ran at fs2, one that runs backwards, one line that is none.
const small = `# Grid: tiny
1 100 5 50.5 2 40 -1 2 60 -1 1 ana G1 E7 q P1 fs1 fs1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 vo1 p1
3 120 -1 -1 1 -1 -1 4 30 -1 5 bob G1 E7 -1 -1 fs1 fs2 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 vo1 p2
2 110 0 7 1 7 128 1 30 -1 1 ana G2 E8 q P1 fs1 fs1 COMPOSITE 1,3 -1 -1 -1 -1 -1 -1 -1 vo2 p1
oops
`

func TestGrid_ReadsTheColumnsOfSWFAndNamesAsNumbers(t *testing.T) {
	t.Parallel()
	trace, err := Read(strings.NewReader(small), "tiny.gwf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Records) != 3 || trace.BadCount != 1 || trace.Backwards != 1 {
		t.Fatalf("%d records, %d bad, %d backwards", len(trace.Records), trace.BadCount, trace.Backwards)
	}
	var b bytes.Buffer
	if err := Write(&b, trace); err != nil {
		t.Fatal(err)
	}
	const want = `; Grid: tiny
; User: 1 ana
; User: 2 bob
; Group: 1 G1
; Group: 2 G2
; Executable: 1 E7
; Executable: 2 E8
; Queue: 1 q
; Partition: 1 P1
; Partition: 2 fs2
1 100 5 50.5 2 40 -1 2 60 -1 1 1 1 1 1 1 -1 -1
2 110 0 7 1 7 128 1 30 -1 1 1 2 2 1 1 -1 -1
3 120 -1 -1 1 -1 -1 4 30 -1 5 2 1 1 -1 2 -1 -1
`
	if b.String() != want {
		t.Errorf("as SWF:\n%swant\n%s", &b, want)
	}
	if !strings.HasPrefix(trace.Beyond[1], "fs1 fs1 COMPOSITE 1,3 ") || !strings.HasSuffix(trace.Beyond[2], " vo1 p2") {
		t.Errorf("what lies beyond did not move along: %q", trace.Beyond)
	}
}

func TestGrid_NumbersStayTheNumbersTheyAre(t *testing.T) {
	t.Parallel()
	line := func(user string) string {
		return "1 0 0 1 1 -1 -1 1 1 -1 1 " + user + " 9 -1 0 17 -1 -1\n"
	}
	trace, err := Read(strings.NewReader(line("30")+line("12")+line("-1")), "x.gwf", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{30, 12, -1} {
		r := &trace.Records[i]
		if got := r[UserID].Whole(); got != want || r[GroupID].Whole() != 9 || r[QueueNumber].Whole() != 0 || r[PartitionNumber].Whole() != 17 {
			t.Errorf("record %d: user %d, %v", i, got, r)
		}
	}
	if len(trace.Header.Lines) != 0 {
		t.Errorf("names of numbers: %q", trace.Header.Lines)
	}
}

func TestGrid_ReadAndWrittenAgainSaysTheSame(t *testing.T) {
	t.Parallel()
	first, err := Read(strings.NewReader(small), "tiny.gwf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var once, twice bytes.Buffer
	if err := WriteGrid(&once, first); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"# Grid: tiny\n", "\n2 110 0 7 1 7 128 1 30 -1 1 ana G2 E8 q P1 fs1 fs1 COMPOSITE 1,3 -1 -1 -1 -1 -1 -1 -1 vo2 p1\n"} {
		if !strings.Contains(once.String(), word) {
			t.Errorf("lacks %q:\n%s", word, &once)
		}
	}
	second, err := Read(bytes.NewReader(once.Bytes()), "tiny.gwf", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteGrid(&twice, second); err != nil {
		t.Fatal(err)
	}
	if once.String() != twice.String() {
		t.Errorf("first\n%sthen\n%s", &once, &twice)
	}
}

func TestGrid_NamesComeBackFromSWF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	steps := []string{"a.gwf", "b.swf.gz", "c.gwf.gz"}
	if err := os.WriteFile(filepath.Join(dir, steps[0]), []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	var last *Trace
	for i, name := range steps {
		trace, err := Open(filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if last = trace; i+1 < len(steps) {
			if err := WriteFile(filepath.Join(dir, steps[i+1]), trace); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := WriteGrid(&b, last); err != nil {
		t.Fatal(err)
	}
	if want := "3 120 -1 -1 1 -1 -1 4 30 -1 5 bob G1 E7 -1 fs2 -1 -1 "; !strings.Contains(b.String(), want) {
		t.Errorf("lacks %q:\n%s", want, &b)
	}
}

func TestGrid_IsSplitBySite(t *testing.T) {
	t.Parallel()
	trace, err := Read(strings.NewReader(small), "tiny.gwf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	parts := trace.Partitions()
	if len(parts) != 2 || parts[0].Name != "P1" || parts[1].Name != "fs2" || len(parts[0].Trace.Beyond) != 2 || len(parts[1].Trace.Records) != 1 {
		t.Errorf("%+v", parts)
	}
}

func TestGrid_BadLinesSayWhatIsWanted(t *testing.T) {
	t.Parallel()
	for line, word := range map[string]string{
		"1 2 3":                  "has 3 fields, must have 29",
		strings.Repeat("1 ", 30): "has 30 fields, must have 29",
		"x " + small[15:]:        "field 1 (job number)",
		"1 -5 0 1 1 -1 -1 1 1 -1 1 u g e q p s s": "submit time -5",
	} {
		if _, err := Read(strings.NewReader(line), "x.gwf", Options{Strict: true}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%.30q: %v, want %q", line, err, word)
		}
	}
}

func FuzzReadGrid(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("1 0 0 1 1 -1 -1 1 1 -1 1 u g e q p s s\n;x\n#\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := Read(bytes.NewReader(data), "x.gwf", Options{})
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := WriteGrid(&once, trace); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(once.Bytes()), "x.gwf", Options{Strict: true})
		if err != nil {
			t.Fatalf("%v in %q", err, once.Bytes())
		}
		if err := WriteGrid(&twice, again); err != nil || once.String() != twice.String() {
			t.Fatalf("%v: %q, then %q", err, once.String(), twice.String())
		}
	})
}
