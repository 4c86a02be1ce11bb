package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written writes logs of one job with such headers, and returns the folder.
func written(t *testing.T, headers map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, h := range headers {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(h+"1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var headers = map[string]string{
	"a.swf":              "; Computer: IBM SP2\n; Installation: Swedish Royal Institute of Technology (KTH)\n",
	"b.swf":              "; Computer: IBM SP2\n; Installation: SDSC\n",
	"c.swf":              "; Computer: simulator\n; Note: input_file:../data/CTC-SP2/swf/log.swf\n",
	"d.swf":              "; Computer: SGI Origin\n; Installation: SDSC\n",
	"e.swf":              "; Installation: LCG grid\n",
	"f.swf":              "",
	"ctc-sp2-first.swf":  "",
	"KTH-SP2-nobody.swf": "; Installation: SDSC\n; Computer: IBM SP2\n",
}

// A log is known by its header, or else by its file's name, and stands in its place in whatever
// order it is given. What is not known has the first place that is left.
func TestPlaced_EachLogInItsPlace(t *testing.T) {
	t.Parallel()
	dir := written(t, headers)
	for _, c := range []struct{ given, want string }{
		{"b.swf c.swf a.swf", "b.swf c.swf a.swf"},
		{"a.swf", "- - a.swf"},
		{"a.swf c.swf b.swf", "b.swf c.swf a.swf"},
		{"ctc-sp2-first.swf f.swf", "f.swf ctc-sp2-first.swf -"},
		{"f.swf d.swf", "f.swf d.swf -"},
		{"KTH-SP2-nobody.swf", "KTH-SP2-nobody.swf - -"}, // the header knows better
		{"e.swf", "e.swf - -"},
		{"KTH=f.swf sp2=a.swf", "a.swf - f.swf"}, // whoever gives it knows best
	} {
		s := &studying{}
		for _, f := range strings.Fields(c.given) {
			name, file, named := strings.Cut(f, "=")
			if f = filepath.Join(dir, f); named {
				f = name + "=" + filepath.Join(dir, file)
			}
			s.traces = append(s.traces, f)
		}
		files, err := s.placed(bandTraces)
		if err != nil {
			t.Errorf("%s: %v", c.given, err)
			continue
		}
		var got []string
		for _, f := range files {
			if f.path == "" {
				f.path = "-"
			}
			got = append(got, filepath.Base(f.path))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: placed as %s, want %s", c.given, text, c.want)
		}
	}
}

// The other logs are named on stderr, as is one that stands in another's place.
func TestLogs_SayWhatWasReadAsWhat(t *testing.T) {
	t.Parallel()
	dir := written(t, headers)
	var said strings.Builder
	s := &studying{traces: []string{filepath.Join(dir, "e.swf")}, messages: &said}
	if list, err := s.logs(bandTraces); err != nil || len(list) != 1 || list[0].name != "SP2" {
		t.Fatal(list, err)
	}
	for _, want := range []string{"e.swf: read as SDSC SP2 on 128 processors; it seems to be the log of LCG\n", "no --trace for CTC SP2 given: its rows are left out\n", "no --trace for KTH SP2 given"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q has no %q", said.String(), want)
		}
	}
}

func TestPlaced_RefusesWhatItCannotPlace(t *testing.T) {
	t.Parallel()
	dir := written(t, headers)
	a, b, d := filepath.Join(dir, "a.swf"), filepath.Join(dir, "b.swf"), filepath.Join(dir, "d.swf")
	for _, c := range []struct {
		known bool
		given []string
		want  string
	}{
		{true, []string{d}, d + ": is none of SDSC SP2, CTC SP2, KTH SP2 by its header or name; say which with NAME=FILE, such as SP2=" + d},
		{true, []string{a, a}, a + ": is KTH SP2, as " + a + " is; give each log once"},
		{false, []string{b, a, "SDSC SP2=" + d}, "is SDSC SP2, as " + b + " is"},
		{false, []string{a, a, a, "x"}, "--trace x: the study takes 3 traces, SDSC SP2, CTC SP2, KTH SP2; 4 given"},
		{false, []string{filepath.Join(dir, "nowhere.swf")}, "nowhere.swf"},
		{false, []string{"CTC="}, "CTC="},
	} {
		if _, err := (&studying{traces: c.given, known: c.known}).placed(bandTraces); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.given, err, c.want)
		}
	}
}
