package simulation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// The columns of a table are reported once, however many sites read it, with all records that were
// skipped. The same holds for other files.
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
		if _, err := l.trace(file, skip, 0, nil); err != nil {
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

// Two sites may read one table in two zones: between its submits a clock in Berlin goes from 2
// to 3 o'clock. A broker's jobs have the zone too.
func TestWorkloads_ATableIsReadInTheZoneOfEachWorkload(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "night.sacct")
	if err := os.WriteFile(file, []byte("JobIDRaw|User|State|Submit|Start|End|NNodes|ExitCode\n"+
		"1|ana|COMPLETED|2026-03-29T01:59:00|2026-03-29T01:59:00|2026-03-29T01:59:30|2|0:0\n"+
		"2|ana|COMPLETED|2026-03-29T03:01:00|2026-03-29T03:01:00|2026-03-29T03:01:30|2|0:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := NewWorkloads()
	for _, c := range []struct {
		zone *time.Location
		want grid.Time
	}{{berlin, 120_000}, {nil, 3_720_000}, {time.UTC, 3_720_000}} {
		site := &configs.Site{Name: "a", Workload: &configs.Workload{Trace: file, Zone: c.zone, Days: grid.Day}}
		local, err := l.Local(site, 1)
		if err != nil || len(local) != 2 || local[1].Submit != c.want {
			t.Errorf("%v: local jobs %+v, %v; want the second at %v", c.zone, local, err, c.want)
		}
		broker := &configs.Broker{Name: "vo", Workload: &configs.VOWorkload{Trace: file, Zone: c.zone, Days: grid.Day, Deadline: grid.Day,
			MinPerformance: configs.Range[grid.Performance]{Lo: grid.Unit, Hi: grid.Unit}, MaxPrice: configs.Range[configs.Thousandths]{Lo: configs.One, Hi: configs.One},
			Run: configs.Range[configs.Thousandths]{Lo: configs.One, Hi: configs.One}}}
		jobs, err := l.vo(broker, grid.Price(grid.Credit), 1)
		if err != nil || len(jobs) != 2 || jobs[1].Submit != c.want {
			t.Errorf("%v: a VO's jobs %+v, %v; want the second at %v", c.zone, jobs, err, c.want)
		}
	}
}
