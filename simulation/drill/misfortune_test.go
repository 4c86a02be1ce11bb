//go:build linux

package drill

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// place submits a job and waits until its window is committed, and confirmed by all sites.
func (f *federation) place(name string, nodes int, length grid.Duration, within time.Duration) api.Job {
	f.t.Helper()
	id := f.submit(name, nodes, length)
	var j api.Job
	var err error
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		if j, err = f.client().Job(context.Background(), id); err == nil && j.State != "waiting" && j.State != "trying" && !slices.ContainsFunc(j.Legs, unconfirmed) {
			break
		}
		if time.Now().After(end) {
			f.t.Fatalf("job %s of %d nodes is not placed within %v: %v, %s, %v", name, nodes, within, err, j.State, j.Reason)
		}
	}
	if !windowed(j.State) && j.State != "done" {
		f.t.Fatalf("job %s is %s: %v", name, j.State, j.Reason)
	}
	return j
}

// unconfirmed reports whether a leg's site has yet to say that it has been confirmed: who
// kills its broker now does not know what becomes of it.
func unconfirmed(l api.Leg) bool {
	return l.State == "asked" || l.State == "held" || l.State == "prepared"
}

func (f *federation) submit(name string, nodes int, length grid.Duration) (id string) {
	f.t.Helper()
	price := api.Price{Price: 20 * grid.Price(grid.Credit)}
	slow := api.Performance{Performance: grid.Unit / 2}
	a, err := f.client().Submit(context.Background(), api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{
		{Name: name, Nodes: nodes, Length: api.Seconds{Duration: length}, MaxPrice: &price, MinPerformance: &slow}}})
	must(f.t, err)
	if !a.Jobs[0].Taken {
		f.t.Fatalf("job %s is not taken: %v", name, a.Jobs[0].Reason)
	}
	return a.Jobs[0].ID
}

// answers reports whether a site's answer to the last cycle could be used.
func (f *federation) answers(site string) bool {
	l, err := f.client().Sites(context.Background())
	if err != nil {
		return false
	}
	for i := range l.Sites {
		if l.Sites[i].Name == site {
			return l.Sites[i].Member && l.Sites[i].Answer == "usable"
		}
	}
	return false
}

// docs/FAILURES.md: a process that hangs is as if it were cut off; other sites
// are sold, and what is overdue is done first when it goes on.
func TestStopped_ASiteThatHangsCostsItselfOnly(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	f.place("before", 208, grid.Second, patience) // all nodes of all sites
	north := f.site("north")
	north.signal(syscall.SIGSTOP)
	begun := time.Now()
	f.place("first", 40, grid.Second, patience)
	t.Logf("the first job after the stop is placed in %v", time.Since(begun))
	for i := range 10 {
		begun := time.Now()
		if j := f.place(fmt.Sprint("without", i), 100, grid.Second, patience); strings.Contains(fmt.Sprint(j.Sites), "north") {
			t.Errorf("job %s is placed at %v, and north hangs", j.Name, j.Sites)
		}
		if i == 9 {
			t.Logf("the last one in %v", time.Since(begun))
		}
	}
	if !f.broker.said(`"peer":"site:north"`, "peer has gone") {
		t.Error("the broker has not noticed that north hangs")
	}
	north.signal(syscall.SIGCONT)
	begun = time.Now()
	f.place("after", 208, grid.Second, patience)
	t.Logf("a job of all nodes is placed %v after north goes on", time.Since(begun))
	f.stop()
	f.verify()
}

// docs/FAILURES.md: with a full disk the process stops before it answers, the
// others go on; once there is room it is started again, as the card Disk full of
// docs/RUNBOOK.md says, and nothing is missing.
func TestFullDisk_TheProcessStopsBeforeItAnswers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting a small disk wants root")
	}
	f := lay(t, plan{broker: "batch_size = 1\n"})
	north := f.site("north")
	disk := north.journal()
	must(t, os.Mkdir(disk, 0o700))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "drill", disk).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let us mount a small disk: %v, %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() }) // before the folder goes
	f.start()
	var placed []string
	for i := 0; north.running() && i < 200; i++ {
		placed = append(placed, f.submit(fmt.Sprint("fill", i), 180, grid.Second)) // a leg at every site
		time.Sleep(10 * time.Millisecond)
	}
	if exit := north.fails(patience); exit != 1 {
		t.Errorf("exit %d on a full disk, want 1", exit)
	}
	if !north.said("no space left on device", "the process cannot go on; its next life replays the journal") {
		t.Errorf("no line of north says why it stopped:\n%s", north.tail(5))
	}
	f.holds("BourseDown", north)
	begun := time.Now()
	f.place("meanwhile", 120, grid.Second, patience)
	t.Logf("without north a job is placed in %v", time.Since(begun).Round(time.Millisecond))
	if out, err := exec.Command("mount", "-o", "remount,size=64m", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said := newWalk(f).typed("Disk full"); !strings.Contains(said, " 64M ") {
		t.Errorf("df does not show the disk, which has room now:\n%s", said)
	}
	server := f.asks(north)
	eventually(t, patience, "readyz is well", func() bool { status, _ := server("/readyz"); return status == 200 })
	if f.alert("BourseDown", north) {
		t.Error("north is back, and is called down")
	}
	begun = time.Now()
	f.place("after", 208, grid.Second, patience)
	t.Logf("after the restart of north a job with a leg there is placed in %v", time.Since(begun).Round(time.Millisecond))
	for _, id := range placed {
		if _, err := f.client().Job(context.Background(), id); err != nil {
			t.Errorf("job %s was taken: %v", id, err)
		}
	}
	eventually(t, patience, "no site holds a leg in doubt", func() bool { return f.inDoubt() == 0 })
	f.stop()
	f.verify()
}

// docs/BACKUP.md: a site that starts from an older copy is told every leg again
// by its brokers, who record the amnesia; no job is lost by it.
func TestRestore_ASiteIsToldWhatItHasForgotten(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	north := f.site("north")
	f.place("early", 200, grid.Minute, patience)
	f.copies(north)
	late := f.place("late", 200, grid.Minute, patience)
	north.kill()
	f.putBack(north)
	north.start()
	north.ready()
	eventually(t, patience, "the broker records the amnesia of north", func() bool {
		return strings.Contains(f.shown(f.broker, "amnesia"), `"site":"north"`)
	})
	eventually(t, patience, "north has the leg again", func() bool { return strings.Contains(f.shown(north, "leg-restored"), late.ID) })
	if j, err := f.client().Job(context.Background(), late.ID); err != nil || j.State != "placed" || len(j.Legs) != len(late.Legs) || *j.Cost != *late.Cost {
		t.Errorf("after the restore: %+v, %v; want %+v", j, err, late)
	}
	f.place("after", 100, grid.Minute, patience)
	f.stop()
	f.verify()
}

// docs/BACKUP.md: a broker from a copy older than its last life is fenced and
// stops; the next start takes the next number, lists and adopts.
func TestRestore_ABrokerIsFencedThenAdopts(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	early := f.place("early", 200, grid.Minute, patience)
	f.copies(f.broker)
	f.broker.kill()
	f.broker.start()
	f.broker.ready()
	late := f.place("late", 200, grid.Minute, patience)
	f.broker.kill()
	f.putBack(f.broker)
	f.broker.start()
	if exit := f.broker.fails(patience); exit != 1 {
		t.Errorf("exit %d of a fenced broker, want 1", exit)
	}
	if !f.broker.said("another process has its name", "of site:") {
		t.Errorf("no line says why it stopped, and by whose word:\n%s", f.broker.tail(5))
	}
	f.broker.start()
	f.broker.ready()
	f.place("after", 100, grid.Minute, patience)
	if j, err := f.client().Job(context.Background(), early.ID); err != nil || !windowed(j.State) {
		t.Errorf("the job of before the copy: %+v, %v", j, err)
	}
	if adopted := f.shown(f.broker, "leg-adopted"); strings.Count(adopted, late.ID) != len(late.Legs) {
		t.Errorf("the legs of the forgotten job are not adopted:\n%s", adopted)
	}
	eventually(t, patience, "the forgotten job runs as adopted work", func() bool {
		j, err := f.client().Job(context.Background(), late.ID)
		return err == nil && windowed(j.State)
	})
	f.stop()
	f.verify()
}

// copies makes a copy of an agent's journal, by name that of the agent.
func (f *federation) copies(a *agent) {
	f.t.Helper()
	out, messages, exit := f.bourse("journal", "copy", a.facts(), "@backup/"+a.role+"-"+a.name)
	if exit != 0 {
		f.t.Fatalf("journal copy: exit %d\n%s%s", exit, out, messages)
	}
}

// putBack puts the copy in the place of the journal, as docs/BACKUP.md says.
func (f *federation) putBack(a *agent) {
	f.t.Helper()
	folder := a.facts()
	aside := f.t.TempDir()
	must(f.t, os.Rename(folder, filepath.Join(aside, "journal")))
	must(f.t, os.Rename(filepath.Join(f.dir, "backup", a.role+"-"+a.name), folder))
}

// shown is what bourse journal show prints of one kind of facts, as JSON.
func (f *federation) shown(a *agent, kind string) string {
	f.t.Helper()
	out, messages, exit := f.bourse("journal", "show", "--json", "--kind", kind, a.facts())
	if exit != 0 {
		f.t.Fatalf("journal show: exit %d\n%s%s", exit, out, messages)
	}
	return out
}

// windowed reports whether a job in that state has a window that is not over.
func windowed(state string) bool { return state == "placed" || state == "running" }

// docs/BACKUP.md, "Restore", step by step, for a site: jobs have run and been paid since
// the copy, the whole federation is stopped, the older copy is put in the journal's place,
// verified by itself, and all agents start again. Then verify finds no invariant broken in
// all journals together, and says by a note that the site has forgotten something.
func TestRestore_TheDocumentedStepsEndInJournalsThatVerify(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	north := f.site("north")
	f.place("early", 200, grid.Second, patience)
	f.copies(north)
	var since []string
	for i := range 4 {
		since = append(since, f.place(fmt.Sprint("since", i), 208, grid.Second, patience).ID) // a leg at every site
	}
	eventually(t, patience, "what was bought since the copy has run", func() bool {
		for _, id := range since {
			if j, err := f.client().Job(context.Background(), id); err != nil || j.State != "done" {
				return false
			}
		}
		return true
	})
	late := f.place("late", 208, grid.Minute, patience)
	f.stop()
	f.putBack(north)
	if v := f.verified(north.facts()); v.Broken > 0 {
		t.Errorf("the copy alone: %+v", v)
	}
	f.start()
	eventually(t, patience, "north has the leg that is to come again", func() bool { return strings.Contains(f.shown(north, "leg-restored"), late.ID) })
	f.place("after", 100, grid.Second, patience)
	f.stop()
	v := f.verified()
	noted := false
	for _, x := range v.Findings {
		noted = noted || x.Note && x.Agent == "site:north" && strings.Contains(x.What, "an older copy of it was put back")
		if !x.Note {
			t.Errorf("%s: %s", x.Agent, x.What)
		}
	}
	if v.Broken > 0 || !noted {
		t.Errorf("%d times broken, noted %t: %+v", v.Broken, noted, v.Findings)
	}
}
