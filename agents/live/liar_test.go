package live

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/sites"
)

// liar is a network between two hosts that hands over what it is given and, with
// it, the same messages with something in them changed: what a peer may send
// that has the right certificate and bad intentions.
type liar struct {
	draw  *rand.Rand
	ends  map[string]*Host // by role
	told  int              // lies
	jobs  int              // handed in
	meek  bool             // about who is who it tells the truth, so that there is more to lie about
	queue chan func()
}

// Send delivers, and lies.
func (l *liar) Send(to agents.ID, e *wire.Envelope) {
	role, _, _ := strings.Cut(string(to), ":")
	l.queue <- func() {
		m, err := wire.Decode(e)
		if err != nil {
			return
		}
		h := l.ends[role]
		for range l.draw.IntN(3) {
			l.lie(h, e, m)
		}
		h.Deliver(e)
		for range l.draw.IntN(3) {
			l.lie(h, e, m)
		}
	}
}

// lie delivers a message with one to three things changed.
func (l *liar) lie(h *Host, e *wire.Envelope, m agents.Message) {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	fresh, _ := wire.Decode(e) // shares nothing with what is delivered
	v.Set(reflect.ValueOf(fresh))
	for range 1 + l.draw.IntN(3) {
		l.change(v)
	}
	if kind := m.Kind(); l.meek && (kind == "List" || kind == "Listing" || kind == "Reassert") {
		return
	}
	x, err := wire.Encode(agents.ID(e.GetFrom()), agents.ID(e.GetTo()), v.Interface().(agents.Message))
	if err != nil {
		return
	}
	l.told++
	h.Deliver(x)
}

// change changes one thing somewhere in a value.
func (l *liar) change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if n := v.NumField(); n > 0 {
			if f := v.Field(l.draw.IntN(n)); f.CanSet() {
				l.change(f)
			}
		}
	case reflect.Slice:
		l.resize(v)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString([]string{"", "main", "north", "vo1", "vo2", "Hold", "Prepare", "Settled", "job0", strings.Repeat("x", 300)}[l.draw.IntN(10)])
	case reflect.Int, reflect.Int64, reflect.Int32:
		x := v.Int()
		y := []int64{0, 1, -1, x + 1, x - 1, 2 * x, -x, x + 600_000, math.MaxInt32, math.MaxInt64, math.MinInt64, int64(grid.MaxTime), int64(grid.Never)}[l.draw.IntN(13)]
		if !v.OverflowInt(y) {
			v.SetInt(y)
		}
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint8:
		x := v.Uint()
		y := []uint64{0, 1, x + 1, x - 1, math.MaxUint32, math.MaxUint64, uint64(l.draw.IntN(12))}[l.draw.IntN(7)]
		if !v.OverflowUint(y) {
			v.SetUint(y)
		}
	}
}

// resize changes an element of a slice, or how many there are.
func (l *liar) resize(v reflect.Value) {
	n := v.Len()
	if n == 0 {
		if l.draw.IntN(2) == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		return
	}
	switch l.draw.IntN(5) {
	case 0:
		v.Set(v.Slice(0, l.draw.IntN(n)))
	case 1:
		v.Set(reflect.Append(v, v.Index(l.draw.IntN(n))))
	default:
		l.change(v.Index(l.draw.IntN(n)))
	}
}

// No message of a peer ends an agent, whatever it says, nor can anything that it makes the
// agent record keep the next life from its journal.
func TestDeliver_NoPeerEndsAnAgent(t *testing.T) {
	t.Parallel()
	for seed := range lies {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &liar{draw: rand.New(rand.NewPCG(seed, 7)), ends: map[string]*Host{}, queue: make(chan func(), 1<<16), meek: seed%4 > 0}
				disk := memories()
				for range 3 { // lives: each from what the one before was made to record
					l.begin(t, disk)
					l.carry(t, 5*time.Minute)
					l.end(t)
				}
				if l.told == 0 {
					t.Error("nobody has lied")
				}
			})
		})
	}
}

// lies is the number of seeds of lies.
const lies = uint64(16)

// begin brings a broker and a site to life with the liar between them.
func (l *liar) begin(t *testing.T, disk func(agents.ID) journal.Disk) {
	t.Helper()
	groups := []grid.Group{{Site: "north", Name: "main", Nodes: 16, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}
	cfg := broker.Defaults("vo1")
	cfg.Sites, cfg.Budget, cfg.BatchSize, cfg.MaxCycles = []agents.ID{"site:north"}, 1_000_000*grid.Credit, 4, 1000
	cfg.OfferWait, cfg.Phase, cfg.Hold, cfg.InDoubt = grid.Second, 0, 2*grid.Second, 10*grid.Second
	cfg.Cycle, cfg.KeepJobs = grid.Second, grid.Minute
	b, s := quiet(Options{}), quiet(Options{})
	l.ends = map[string]*Host{"broker": b, "site": s}
	b.Connect(l)
	s.Connect(l)
	for _, a := range []struct {
		host  *Host
		id    agents.ID
		agent agents.Durable
	}{
		{s, "cluster:north", cluster.New(cluster.Config{Site: "site:north"}, queue.NewBackend(groups, []queue.Options{{Nodes: 16, Policy: backfill.EASY}}, nil))},
		{s, "site:north", sites.New(sites.Config{Name: "north", Cluster: "cluster:north", Groups: groups, Pricing: pricing.Adaptive, VOShare: 1000, Span: grid.Day,
			Hold: 2 * grid.Second, InDoubt: 10 * grid.Second, MaxWork: 1000})},
		{b, vo, broker.New(cfg)},
	} {
		if err := a.host.Add(a.id, a.agent, disk(a.id), journal.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}

// carry carries messages for a while, and hands in a job every other second. A
// broker that was told of another process of its name stops, as it must.
func (l *liar) carry(t *testing.T, d time.Duration) {
	t.Helper()
	jobs := time.NewTicker(2 * time.Second)
	defer jobs.Stop()
	for end := time.After(d); ; {
		select {
		case f := <-l.queue:
			f()
		case <-jobs.C:
			l.jobs++
			j := grid.Job{Name: fmt.Sprintf("job%d", l.jobs), User: "ana", Request: grid.Request{Nodes: 1 + l.jobs%12, Length: grid.Duration(1+l.jobs%30) * grid.Second,
				MinPerformance: grid.Unit, MaxPrice: grid.Price(2 * grid.Credit), Deadline: grid.Never}}
			_ = l.ends["broker"].Tell("user:ana", vo, agents.Submit{Job: j})
		case err := <-l.ends["broker"].Failed():
			if !errors.Is(err, ErrRetired) {
				t.Fatal(err)
			}
			return
		case err := <-l.ends["site"].Failed():
			t.Fatal(err)
		case <-end:
			return
		}
	}
}

// end stops both.
func (l *liar) end(t *testing.T) {
	t.Helper()
	for _, h := range l.ends {
		stop(t, h)
	}
	for len(l.queue) > 0 {
		<-l.queue
	}
}
