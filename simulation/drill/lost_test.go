//go:build linux

package drill

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// docs/FAILURES.md: a site that never comes back is lost before the start of what
// it carries, within the silence that the broker's file allows: its part is had
// elsewhere, or the window is given back with all its money. The job says so. If the
// site comes back all the same, it releases what it still has.
func TestLost_ASiteThatIsGoneForGoodIsRepairedOrRefunded(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\nlost_after = \"4s\"\n"})
	f.start()
	before := f.spent()
	j := f.placedLater("wide", 110, 45*grid.Second) // any two of the three sites can carry it
	victim := f.site(j.Sites[len(j.Sites)-1])
	victim.kill()
	f.until(j.ID, 40*time.Second, "its part at "+victim.name+" is had elsewhere", func(j *api.Job) bool {
		return windowed(j.State) && !slices.Contains(f.carry(j), victim.name) && f.nodes(j) == 110
	})
	if shown, _, exit := f.bourse("jobs", j.ID); exit != 0 || !strings.Contains(shown, "placed") {
		t.Errorf("bourse jobs: exit %d\n%s", exit, shown)
	}
	if list, _, exit := f.bourse("sites"); exit != 0 || !strings.Contains(list, victim.name+" is lost: it has not answered for 4 seconds") {
		t.Errorf("bourse sites: exit %d\n%s", exit, list)
	}

	all := f.placedLater("all", 140, 45*grid.Second) // only both of the others together
	second := f.site(all.Sites[0])
	second.kill()
	f.until(all.ID, 60*time.Second, "it is given back", func(j *api.Job) bool { return j.State == "waiting" && j.Reason != nil })
	shown, _, exit := f.bourse("explain", all.ID) // jobs says why it waits now, as each cycle finds
	if exit != 0 || !strings.Contains(shown, "waiting") || !strings.Contains(shown, "lost with "+second.name) {
		t.Errorf("bourse explain does not say what was lost: exit %d\n%s", exit, shown)
	}
	if out, messages, exit := f.bourse("cancel", all.ID); exit != 0 {
		t.Errorf("bourse cancel: exit %d\n%s%s", exit, out, messages)
	}
	eventually(t, patience, "what was paid for it is back", func() bool { return f.spent() <= before+f.costs(j.ID) })

	victim.start()
	second.start()
	victim.ready()
	second.ready()
	eventually(t, 90*time.Second, "the sites are used again", func() bool { return f.answers(victim.name) || f.nobodyLost() })
	eventually(t, patience, "no site carries what was given up", func() bool {
		for _, a := range []*agent{victim, second} {
			out, _, exit := f.bourse("sites", a.name)
			if exit != 0 || !strings.Contains(out, "0 legs hold nodes") && !f.isCarried(j.ID, a.name) { // the first job may lie there once more
				return false
			}
		}
		return true
	})
	f.stop()
	f.verify()
}

// docs/OPERATING.md: an operator who knows sooner says so, and takes it back.
func TestLost_ByTheOperatorsWord(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	j := f.placedLater("wide", 110, 10*grid.Minute)
	victim := f.site(j.Sites[0])
	victim.kill()
	if out, messages, exit := f.bourse("site", "lost", victim.name, "--why", "the machine was sold"); exit != 0 || !strings.Contains(out, "the machine was sold") {
		t.Errorf("bourse site lost: exit %d\n%s%s", exit, out, messages)
	}
	f.until(j.ID, patience, "its part is had elsewhere", func(j *api.Job) bool {
		return windowed(j.State) && !slices.Contains(f.carry(j), victim.name) && f.nodes(j) == 110
	})
	if _, messages, exit := f.bourse("site", "lost", "nowhere"); exit != 1 || !strings.Contains(messages, "knows no site") {
		t.Errorf("of a site that there is not: exit %d, %s", exit, messages)
	}
	victim.start()
	victim.ready()
	eventually(t, 90*time.Second, "it has released its part", func() bool {
		out, _, exit := f.bourse("sites", victim.name)
		return exit == 0 && strings.Contains(out, "0 legs hold nodes")
	})
	if f.nobodyLost() {
		t.Error("the operator's word holds no longer, and nobody has taken it back")
	}
	if out, messages, exit := f.bourse("site", "lost", victim.name, "--undo"); exit != 0 || strings.Contains(out, " is lost") {
		t.Errorf("bourse site lost --undo: exit %d\n%s%s", exit, out, messages)
	}
	f.place("all", 208-110, grid.Second, 60*time.Second)
	f.stop()
	f.verify()
}

// placedLater submits a job that starts no sooner than after a span, and waits until its
// window is committed.
func (f *federation) placedLater(name string, nodes int, span grid.Duration) api.Job {
	f.t.Helper()
	price := api.Price{Price: 20 * grid.Price(grid.Credit)}
	a, err := f.client().Submit(context.Background(), api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{
		{Name: name, Nodes: nodes, Length: api.Seconds{Duration: 20 * grid.Second}, MaxPrice: &price, Ready: api.Write(api.Moment{After: span})}}})
	must(f.t, err)
	var j api.Job
	eventually(f.t, patience, "job "+name+" is placed", func() bool {
		j, err = f.client().Job(context.Background(), a.Jobs[0].ID)
		return err == nil && windowed(j.State) && len(j.Sites) > 1 && f.whole(&j)
	})
	return j
}

// until waits until a job is as it should be.
func (f *federation) until(id string, most time.Duration, what string, holds func(j *api.Job) bool) {
	f.t.Helper()
	var last api.Job
	for end := time.Now().Add(most); ; time.Sleep(50 * time.Millisecond) {
		j, err := f.client().Job(context.Background(), id)
		if err == nil {
			if last = j; holds(&j) {
				return
			}
		}
		if time.Now().After(end) {
			f.t.Fatalf("not within %v: %s; it is %+v, %v", most, what, last, err)
		}
	}
}

// carry lists who carries a part of a job's window.
func (f *federation) carry(j *api.Job) (sites []string) {
	for i := range j.Legs {
		if s := j.Legs[i].State; s == "confirmed" || s == "running" {
			sites = append(sites, j.Legs[i].Site)
		}
	}
	return sites
}

// nodes is how many nodes carry a job's window.
func (f *federation) nodes(j *api.Job) (n int) {
	for i := range j.Legs {
		if s := j.Legs[i].State; s == "confirmed" || s == "running" {
			n += j.Legs[i].Nodes
		}
	}
	return n
}

func (f *federation) whole(j *api.Job) bool { return f.nodes(j) == j.Nodes }

func (f *federation) isCarried(id, site string) bool {
	j, err := f.client().Job(context.Background(), id)
	return err == nil && slices.Contains(f.carry(&j), site)
}

// spent is what the VO has spent, net of what came back.
func (f *federation) spent() grid.Credits {
	a, err := f.client().Accounts(context.Background())
	if err != nil || a.Money == nil {
		return grid.MaxCredits
	}
	return a.Money.Spent.Credits
}

// costs is what a job's window costs.
func (f *federation) costs(id string) grid.Credits {
	j, err := f.client().Job(context.Background(), id)
	if err != nil || j.Cost == nil {
		return 0
	}
	return j.Cost.Credits
}

func (f *federation) nobodyLost() bool {
	l, err := f.client().Sites(context.Background())
	return err == nil && !slices.ContainsFunc(l.Sites, func(s api.Site) bool { return s.Lost != nil })
}
