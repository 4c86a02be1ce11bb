package simulation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the columns of a table are read for is said once, however many sites read it, with
// whatever records skipped; of other files, that it is the same there.
func TestWorkloads_ColumnsOfATableAreToldOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const table = "JobIDRaw|User|State|Submit|Start|End|NNodes|ExitCode\n" +
		"1|ana|COMPLETED|2026-01-31T12:00:00|2026-01-31T12:00:10|2026-01-31T12:10:10|2|0:0\n" +
		"2|ana|COMPLETED|2026-01-31T13:00:00|2026-01-31T13:00:10|2026-01-31T13:10:10|2|0:0\n"
	files := []string{"a.sacct", "b.sacct", "c.sacct", "d.sacct", "e.sacct", "f.sacct"}
	for i, f := range files {
		files[i] = filepath.Join(dir, f)
		text := table
		if f == "f.sacct" { // has something to say of its own
			text += "2.batch|||2026-01-31T13:00:00|2026-01-31T13:00:10|2026-01-31T13:10:10|2|0:0\n"
		}
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := NewWorkloads()
	read := func(file string, skip int) {
		t.Helper()
		if _, err := l.trace(file, skip, 0); err != nil {
			t.Fatal(err)
		}
	}
	read(files[0], 0)
	once := l.Remarks()
	if len(once) < 7 || !strings.Contains(once[0], "column") {
		t.Fatalf("%q", once)
	}
	read(files[0], 1)
	if again := l.Remarks(); len(again) != len(once) {
		t.Errorf("read twice it says %q", again)
	}
	for _, f := range files[1:] {
		read(f, 0)
	}
	all := strings.Join(l.Remarks()[len(once):], "\n")
	if all = strings.ReplaceAll(all, dir+string(filepath.Separator), ""); all != "f.sacct: 1 step of jobs left out\nb.sacct, c.sacct, d.sacct and 2 more: else as a.sacct" {
		t.Errorf("of the others it says\n%s", all)
	}
}
