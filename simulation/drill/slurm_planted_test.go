//go:build linux

package drill

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// clean is what is seen of one window over two clusters, and of a foreign job, where
// nothing is wrong.
func clean() (*truth, *claims) {
	start := time.Unix(1_800_000_000, 0)
	t := &truth{sights: map[string]*sight{}}
	c := newClaims()
	c.jobs["wave"] = "done"
	for i, site := range []string{"c1", "c2"} {
		name := fmt.Sprintf("bourse.%s.%032x", site, i)
		c.legs[name] = &claim{id: grid.LegID{Leg: i}, name: name, job: "wave", site: site, window: grid.Leg{Start: grid.Time(start.UnixMilli())}, committed: true,
			over: start.Add(9 * time.Second), how: facts.LockEnded, state: grid.Settled, paid: 5, earned: 5}
		t.sights[name] = &sight{site, start.Add(-20 * time.Second), start.Add(20 * time.Second)}
		t.marks = append(t.marks, mark{what: "begin", job: "wave", leg: i, site: site, start: start.Unix(), name: name, number: "7", at: start.Add(2 * time.Second)},
			mark{what: "end", job: "wave", leg: i, site: site, start: start.Unix(), name: name, number: "7", at: start.Add(5 * time.Second)})
		t.over = append(t.over, overJob{site, "7", name, "games", "COMPLETED", site + "n1", "then", "0:0", false, time.Time{}})
	}
	t.foreign = []foreignJob{{"c1", "8", "wave", start, true, true}}
	t.over = append(t.over, overJob{"c1", "8", "wave", "news", "COMPLETED", "c1n2", "then", "0:0", false, time.Time{}})
	return t, c
}

const (
	firstName  = "bourse.c1.00000000000000000000000000000000"
	secondName = "bourse.c2.00000000000000000000000000000001"
)

// A checker that would not notice what it is there for is none.
func TestSlurmChecker_NoticesWhatIsPlanted(t *testing.T) {
	t.Parallel()
	seen, said := clean()
	if v := check(seen, said); len(v.broken) != 0 || len(v.spread[undisturbed]) != 1 {
		t.Fatalf("where nothing is wrong: %+v", v)
	}
	lost := grid.Because(grid.Busy, "its reservation has gone")
	for what, x := range map[string]struct {
		plant func(t *truth, c *claims)
		finds string // "": nothing
	}{
		"work of a user without an account": {func(t *truth, c *claims) { c.users["wave"] = unmapped }, "no account: "},
		"a hold of one": {func(t *truth, c *claims) {
			c.users["other"], c.legs["bourse.c1.h"], t.sights["bourse.c1.h"] = unmapped, &claim{name: "bourse.c1.h", job: "other", site: "c1"}, &sight{cluster: "c1"}
		}, "no account: "},
		"a part that has not run": {func(t *truth, c *claims) {
			c.parts["wave"] = []grid.JobPart{{Name: "a"}, {Name: "b"}}
			c.legs[firstName].part, c.legs[secondName].part = "a", "a"
		}, "never ran: job wave is done and part b"},
		"a part off its offset": {func(t *truth, c *claims) {
			x := c.legs[secondName]
			x.part, x.offset, x.window.Start = "b", 30*grid.Second, x.window.Start.Add(30*grid.Second)
		}, "apart: "},
		"one that was refused": {func(t *truth, c *claims) {
			c.users["other"], c.legs["bourse.c1.h"] = unmapped, &claim{name: "bourse.c1.h", job: "other", site: "c1"}
		}, ""},
		"a job at the end":                   {func(t *truth, c *claims) { t.left = []string{firstName} }, "orphan at the end"},
		"a reservation nobody asked for":     {func(t *truth, c *claims) { t.sights["bourse.c1.f"] = &sight{cluster: "c1"} }, "orphan: bourse.c1.f"},
		"one that stays":                     {func(t *truth, c *claims) { s := t.sights[firstName]; s.last = s.last.Add(afterEnd) }, "orphan: " + firstName},
		"one that stays for its bound":       {func(t *truth, c *claims) { s := t.sights[firstName]; s.last = c.legs[firstName].over.Add(afterEnd) }, ""},
		"work that runs twice":               {func(t *truth, c *claims) { t.marks = append(t.marks, t.marks[0]) }, "twice: "},
		"work of no leg":                     {func(t *truth, c *claims) { t.marks[0].name = "bourse.c1.x" }, "without a leg: "},
		"work of another job":                {func(t *truth, c *claims) { t.marks[0].job = "other" }, "another's: "},
		"work of a leg that was not decided": {func(t *truth, c *claims) { c.legs[firstName].committed = false }, "not confirmed: "},
		"work before its window":             {func(t *truth, c *claims) { t.marks[0].at = t.marks[0].at.Add(-3 * time.Second) }, "early: "},
		"work of a leg that is given up": {func(t *truth, c *claims) {
			c.legs[firstName].over = t.marks[0].at.Add(-unheard - time.Second)
		}, "given up: "},
		"work of one whose cluster was down meanwhile": {func(t *truth, c *claims) {
			c.legs[firstName].over = t.marks[0].at.Add(-35 * time.Second)
			t.upset = []upset{{"c1", t.marks[0].at.Add(-30 * time.Second), t.marks[0].at.Add(-7 * time.Second), true}}
		}, ""},
		"work of one whose cluster was down a minute ago": {func(t *truth, c *claims) {
			c.legs[firstName].over = t.marks[0].at.Add(-deaf - time.Second)
			t.upset = []upset{{"c1", t.marks[0].at.Add(-deaf), t.marks[0].at.Add(-50 * time.Second), true}}
		}, "given up: "},
		"work that is cancelled as it begins": {func(t *truth, c *claims) { t.marks, t.over[0].state = t.marks[2:], "CANCELLED" }, ""},
		"work that is cancelled before": {func(t *truth, c *claims) {
			t.marks, t.over[0].state, t.over[0].nodes = t.marks[2:], "CANCELLED", "(null)"
		}, "never ran: "},
		"a leg that never ran":            {func(t *truth, c *claims) { t.marks = t.marks[2:] }, "never ran: "},
		"a job without legs":              {func(t *truth, c *claims) { c.jobs["other"] = "done" }, "never ran: job other"},
		"legs apart":                      {func(t *truth, c *claims) { t.marks[0].at = t.marks[0].at.Add(together + time.Second) }, "apart: "},
		"a foreign job that is cancelled": {func(t *truth, c *claims) { t.foreign[0].ended, t.over[2].state = false, "CANCELLED" }, "foreign: job 8"},
		"a foreign job that had begun and its node denied": {func(t *truth, c *claims) {
			t.foreign[0].ended, t.over[2].state, t.over[2].denied = false, "CANCELLED", true
		}, "foreign: job 8"},
		"a foreign job that its node denied": {func(t *truth, c *claims) {
			t.foreign[0].begun, t.foreign[0].ended, t.over[2].state, t.over[2].denied = false, false, "CANCELLED", true
		}, ""},
		"a foreign job that has gone": {func(t *truth, c *claims) { t.foreign[0].ended, t.over = false, t.over[:2] }, "foreign: job 8"},
		"a foreign job that a crash has lost": {func(t *truth, c *claims) {
			t.foreign[0].ended, t.over = false, t.over[:2]
			t.upset = []upset{{"c1", t.foreign[0].submitted.Add(time.Second), t.foreign[0].submitted.Add(9 * time.Second), true}}
		}, ""},
		"a foreign reservation":            {func(t *truth, c *claims) { t.strange = []string{"it has gone"} }, "foreign: it has gone"},
		"a leg that is open":               {func(t *truth, c *claims) { c.legs[firstName].state = 0 }, "open: "},
		"money from nowhere":               {func(t *truth, c *claims) { c.legs[firstName].earned++ }, "money: brokers have paid"},
		"money for another leg":            {func(t *truth, c *claims) { c.legs[firstName].earned++; c.legs[secondName].earned-- }, "money: "},
		"a lost leg that is not paid back": {func(t *truth, c *claims) { c.legs[firstName].state, c.legs[firstName].reason = grid.Lost, lost }, "not refunded: "},
		"a lost leg without a reason": {func(t *truth, c *claims) {
			x := c.legs[firstName]
			x.state, x.back, x.earned = grid.Lost, x.paid, 0
		}, "no reason: "},
		"a lost leg": {func(t *truth, c *claims) {
			x := c.legs[firstName]
			x.state, x.reason, x.back, x.earned = grid.Lost, lost, x.paid, 0
		}, ""},
	} {
		seen, said := clean()
		x.plant(seen, said)
		broken := check(seen, said).broken
		found := false
		for _, b := range broken {
			found = found || strings.HasPrefix(b, x.finds)
		}
		if x.finds == "" && len(broken) > 0 || x.finds != "" && !found {
			t.Errorf("%s: found %q; must be %q", what, broken, x.finds)
		}
	}
}

// How far apart legs begin is counted by what was in the way of their window, with the offsets of
// parts taken off.
func TestSlurmChecker_TellsWindowsThatWereDisturbed(t *testing.T) {
	t.Parallel()
	for ago, want := range map[time.Duration]int{time.Minute: undisturbed, 12 * time.Second: untouched, 3 * time.Second: disturbed, -time.Second: disturbed} {
		seen, said := clean()
		start := time.Unix(1_800_000_000, 0)
		seen.upset = []upset{{"c2", start.Add(-ago - time.Second), start.Add(-ago + recovers), true}}
		x := said.legs[secondName]
		x.part, x.offset, x.window.Start = "b", 30*grid.Second, x.window.Start.Add(30*grid.Second)
		for i := range seen.marks[2:] {
			seen.marks[2+i].at = seen.marks[2+i].at.Add(31 * time.Second)
		}
		if ago < time.Minute { // of the later part, before its own start
			seen.upset[0].from, seen.upset[0].to = seen.upset[0].from.Add(30*time.Second), seen.upset[0].to.Add(30*time.Second)
		}
		v := check(seen, said)
		for way, list := range v.spread {
			if (way == want) != (len(list) == 1 && list[0] == time.Second) {
				t.Errorf("its cluster was touched %v before: %v %v", ago, v.spread, v.broken)
			}
		}
	}
	if got := percentiles([]time.Duration{4, 1, 3, 2}); got != ": half within 2ns, 90 % within 4ns, 99 % within 4ns, all within 4ns" {
		t.Error(got)
	}
}

func TestSlurmChecker_ReadsMarksAndListsOfJobs(t *testing.T) {
	t.Parallel()
	marks, err := readMarks("begin wave-1 1 c2 1800000000 bourse.c2.0 12 c2n3 games 1800000002.250\n")
	if want := (mark{"begin", "wave-1", 1, "c2", 1800000000, "bourse.c2.0", "12", "c2n3", "games", time.UnixMilli(1800000002250)}); err != nil || len(marks) != 1 || marks[0] != want {
		t.Errorf("%+v, %v", marks, err)
	}
	for _, bad := range []string{"begin\n", "begin wave-1 x c2 1800000000 bourse.c2.0 12 c2n3 games 1800000002.250\n"} {
		if _, err := readMarks(bad); err == nil {
			t.Errorf("%q is a mark", bad)
		}
	}
	file := t.TempDir() + "/jobs"
	line := "JobId=1 UserId=news(9) GroupId=root(0) Name=wrap JobState=COMPLETED Partition=batch TimeLimit=1 StartTime=2026-11-22T19:10:43 EndTime=2026-11-22T19:10:44 NodeList=c1n1 NodeCnt=1 SubmitTime=2026-11-22T19:10:41 ExitCode=0:0 \n"
	must(t, os.WriteFile(file, []byte(line+line), 0o600))
	denied := readDenied("[2026-11-22T19:10:43.907] sched/backfill: _start_job: Started JobId=1 in batch on c1n1\n" +
		"[2026-11-22T19:10:43.914] _slurm_rpc_requeue: Requeue of JobId=1 returned an error: Requested operation is presently disabled\n" +
		"[2026-11-22T19:10:43.917] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=1 uid 0\n" +
		"[2026-11-22T19:10:50.000] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=2 uid 0\n")
	if len(denied) != 2 {
		t.Errorf("%v", denied)
	}
	over, err := readOver("c1", file, denied)
	if want := (overJob{"c1", "1", "wrap", "news", "COMPLETED", "c1n1", "2026-11-22T19:10:41", "0:0", true, time.Date(2026, 11, 22, 19, 10, 43, 0, time.UTC)}); err != nil || len(over) != 1 || over[0] != want {
		t.Errorf("%+v, %v", over, err)
	}
}
