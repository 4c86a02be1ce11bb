package journal_test

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/sites"
)

var restarting = journal.Options{Agent: "site:north"}

func newSite(t testing.TB) *sites.Site {
	t.Helper()
	scheme, err := pricing.ParseScheme("adaptive")
	if err != nil {
		t.Fatal(err)
	}
	return sites.New(sites.Config{Name: "north", Cluster: "cluster:north", Pricing: scheme, VOShare: 1000, MaxWork: 1000,
		Groups: []grid.Group{{Site: "north", Name: "main", Nodes: 512, Performance: grid.Unit, Price: grid.Price(grid.Credit)}},
		Hold:   30 * grid.Second, InDoubt: 15 * grid.Minute})
}

// reserve writes the journal of a site with n confirmed reservations.
func reserve(t testing.TB, disk journal.Disk, n int) {
	t.Helper()
	j, err := journal.Open(disk, restarting, nil)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(j.Append(0, facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: 1, Nonce: 7}))
	for i := range n {
		start := grid.Time(grid.Day) + grid.Time(i)*1000
		m := facts.LegMoved{Leg: reservation(i), What: grid.Leg{Group: "main", Nodes: 8, Start: start, End: start + 60_000},
			Job: fmt.Sprint("job", i), User: "ana", Fare: grid.Fare{Base: grid.Credit, Additive: 25}, Limit: 2 * grid.Credit, Version: 1, Digest: uint64(i) << 40}
		for _, s := range []grid.LegState{grid.Held, grid.Prepared, grid.Confirmed} {
			m.State, m.For = s, 0
			if s != grid.Confirmed {
				m.For = 30 * grid.Second
			}
			must(j.Append(grid.Time(i), m))
		}
	}
	must(j.Sync())
}

func reservation(i int) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: uint64(i) + 1}}
}

// restart brings a site back and has it answer the Confirm of its last leg again.
func restart(t testing.TB, disk journal.Disk, n int) (*sites.Site, *journal.Journal) {
	t.Helper()
	s := newSite(t)
	j, err := journal.Open(disk, restarting, s.Replay)
	if err != nil {
		t.Fatal(err)
	}
	var out agents.Outbox
	now := grid.Time(grid.Hour)
	s.Step(now, "site:north", agents.Started{Nonce: 9}, &out)
	out.Reset()
	s.Step(now, "broker:vo1", agents.Confirm{Leg: reservation(n - 1), DecidedBy: 1}, &out)
	for _, m := range out.Sends {
		if c, ok := m.Message.(agents.Confirmed); ok && c.Leg == reservation(n-1) && m.To == "broker:vo1" {
			return s, j
		}
	}
	t.Fatalf("the site answers %+v", out.Sends)
	return nil, nil
}

// A site that begins anew knows its reservations, from the facts and from an
// image alike, and answers as before.
func TestRestart_ASiteAnswersAsBefore(t *testing.T) {
	t.Parallel()
	const n = 1500 // more than are decoded at once
	disk := &journal.Memory{}
	reserve(t, disk, n)
	disk.Crash(nil, true)
	s, j := restart(t, disk, n)
	if got := len(s.OpenLegs()); got != n {
		t.Fatalf("%d legs are open, want %d", got, n)
	}
	if err := j.Snapshot(grid.Time(grid.Hour), s.Image()); err != nil {
		t.Fatal(err)
	}
	disk.Crash(nil, false)
	again, j := restart(t, disk, n)
	if got := len(again.OpenLegs()); got != n || j.Since() != 0 {
		t.Fatalf("from the image %d legs are open, want %d; %d facts after it", got, n, j.Since())
	}
	if err := again.Ledger().Check(); err != nil {
		t.Error(err)
	}
	if got, want := again.Ledger().Account("income"), s.Ledger().Account("income"); got != want || got.Credit == 0 {
		t.Errorf("the income is %+v, before it was %+v", got, want)
	}
}

// The time that an operator waits: a site's files read, its state built, an answer.
func BenchmarkRestart_Site(b *testing.B) {
	for _, n := range []int{100_000} {
		for _, image := range []bool{false, true} {
			b.Run(fmt.Sprintf("reservations=%d/image=%t", n, image), func(b *testing.B) {
				disk, err := journal.OpenFolder(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = disk.Close() }()
				reserve(b, disk, n)
				if image {
					s, j := restart(b, disk, n)
					if err := j.Snapshot(1, s.Image()); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					restart(b, disk, n)
				}
			})
		}
	}
}
