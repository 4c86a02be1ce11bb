package explain

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// sifted is an explanation from those facts only that a sieve finds in a journal.
func sifted(t testing.TB, disk journal.Disk, since grid.Time, name string) (*Explanation, int) {
	t.Helper()
	n := 0
	var broken error
	e, err := Explain(func(yield func(grid.Time, agents.Fact) bool) {
		broken = journal.Find(disk, journal.NewCodec(), since, NewSieve(name), nil, func(r journal.Record) error {
			n++
			yield(r.At, r.Fact)
			return nil
		})
	}, name, Options{})
	if err != nil || broken != nil {
		t.Fatal(err, broken)
	}
	return e, n
}

// kept is a journal on a disk of what a grid has recorded.
func kept(t testing.TB, g *federation) *journal.Memory {
	t.Helper()
	disk := &journal.Memory{}
	j, err := journal.Open(disk, journal.Options{Agent: "broker:vo1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range g.facts {
		if err := j.Append(g.ats[i], f); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	return disk
}

// An explanation from what a sieve finds is that from the whole journal, for jobs
// that wait, that are placed, given up, cancelled, and tried in vain.
func TestSieve_ExplainsLikeTheWholeJournal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(thorough.Count(6, 3)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		g := newGrid(t)
		for i := range 3 {
			s := g.site(fmt.Sprint("site", i), 2+rng.IntN(6), grid.Price(500_000+rng.IntN(4_000_000)))
			if rng.IntN(4) == 0 {
				s.refuse = []string{"quote", "hold"}[rng.IntN(2)]
			}
		}
		g.start()
		var names []string
		for i := range 40 {
			// One name is the beginning of another.
			name := fmt.Sprint("wave", i)
			names = append(names, name)
			j := job(name, 1+rng.IntN(14), grid.Duration(100+rng.IntN(3000))*grid.Second, grid.Credits(1+rng.IntN(60))*grid.Credit)
			j.User = fmt.Sprint("user", i%3)
			g.submit(j)
			if i%7 == 3 {
				g.step("user:user", agents.JobCancel{Job: names[rng.IntN(len(names))], User: "user0"})
			}
			g.run(g.now.Add(grid.Duration(rng.IntN(900)) * grid.Second))
		}
		g.run(g.now.Add(20_000 * grid.Second))
		disk := kept(t, g)
		fewer := false
		for _, name := range names {
			whole := g.explain(name)
			part, n := sifted(t, disk, 0, name)
			fewer = fewer || 2*n < len(g.facts)
			if !reflect.DeepEqual(whole, part) {
				t.Fatalf("seed %d, %s: from %d of %d facts\n%s\nfrom all\n%s", seed, name, n, len(g.facts), part.Text(nil), whole.Text(nil))
			}
		}
		if !fewer {
			t.Errorf("seed %d: the sieve has found more than half of the facts for every job", seed)
		}
	}
}

// Likewise where the journal has begun anew with an image, and where nothing is
// left from before that.
func TestSieve_ExplainsLikeTheWholeJournalAcrossAnImage(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	for i := range 3 {
		g.site(fmt.Sprint("site", i), 4, 3_600_000)
	}
	g.start()
	for i := range 12 {
		g.submit(job(fmt.Sprint("early", i), 1+i, 4000*grid.Second, grid.Credits(i)*10*grid.Credit))
		g.run(g.now.Add(700 * grid.Second))
	}
	before := len(g.facts)
	disk := &journal.Memory{}
	j, err := journal.Open(disk, journal.Options{Agent: "broker:vo1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(from int) {
		for i, f := range g.facts[from:] {
			if err := j.Append(g.ats[from+i], f); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	add(0)
	if err := j.Snapshot(g.now, g.b.Image()); err != nil {
		t.Fatal(err)
	}
	since := g.now
	for i := range 12 {
		g.submit(job(fmt.Sprint("late", i), 1+i, 4000*grid.Second, grid.Credits(i)*10*grid.Credit))
		g.run(g.now.Add(700 * grid.Second))
	}
	add(before)
	all := func(yield func(grid.Time, agents.Fact) bool) {
		_, err := journal.Read(disk, journal.NewCodec(), func(r journal.Record) error {
			yield(r.At, r.Fact)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, left := range []string{"everything", "the image and after"} {
		for i := range 12 {
			for _, name := range []string{fmt.Sprint("early", i), fmt.Sprint("late", i)} {
				whole, err := Explain(all, name, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if part, _ := sifted(t, disk, 0, name); !reflect.DeepEqual(whole, part) {
					t.Errorf("of %s, %s:\n%s\nfrom all\n%s", left, name, part.Text(nil), whole.Text(nil))
				}
			}
		}
		if left == "everything" {
			if err := disk.Remove("00000001.journal"); err != nil {
				t.Fatal(err)
			}
		}
	}
	e, _ := sifted(t, disk, since, "late3")
	for _, u := range e.Unknown {
		t.Errorf("of a job that was submitted after the image it is not known %s", u)
	}
}
