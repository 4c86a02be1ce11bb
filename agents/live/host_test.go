package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// slowDisk has syncs wait until they are let through.
type slowDisk struct {
	journal.Memory
	let   chan struct{}
	syncs atomic.Int64
}

func (d *slowDisk) Sync(name string) error {
	if d.let != nil {
		<-d.let
	}
	d.syncs.Add(1)
	return d.Memory.Sync(name)
}

// lately counts what a network was given.
type lately struct {
	mu   sync.Mutex
	sent []*wire.Envelope
}

func (n *lately) Send(_ agents.ID, e *wire.Envelope) {
	n.mu.Lock()
	n.sent = append(n.sent, e)
	n.mu.Unlock()
}

func (n *lately) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sent)
}

// Before the disk has synced nobody learns anything: no asker, no watcher, no viewer, no
// peer.
func TestHost_NobodyIsToldBeforeTheSync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{}
		h, _ := hosting(t, disk, Options{})
		net := &lately{}
		h.Connect(net)
		synctest.Wait()
		disk.let = make(chan struct{})
		var told []string
		var mu sync.Mutex
		tell := func(who string) { mu.Lock(); told = append(told, who); mu.Unlock() }
		end := h.Watch(toy, func(grid.Time, agents.Fact) { tell("watcher") })
		defer end()
		if err := h.Tell("user:ana", toy, pass{"broker:vo1", agents.Inquire{}}); err != nil {
			t.Fatal(err)
		}
		go func() {
			if _, err := h.Ask(t.Context(), "user:ana", toy, peek{}); err != nil {
				t.Error(err)
			}
			tell("asker")
		}()
		go func() {
			if err := h.View(t.Context(), toy, func(grid.Time, agents.Agent) {}); err != nil {
				t.Error(err)
			}
			tell("viewer")
		}()
		synctest.Wait()
		time.Sleep(time.Hour)
		if mu.Lock(); len(told) > 0 || net.count() > 0 {
			t.Errorf("before the sync %v were told, and the network %d", told, net.count())
		}
		mu.Unlock()
		close(disk.let)
		synctest.Wait()
		if slices.Sort(told); !slices.Equal(told, []string{"asker", "viewer", "watcher"}) || net.count() != 1 {
			t.Errorf("after the sync %v were told, and the network %d", told, net.count())
		}
		stop(t, h)
	})
}

// All messages that came while the disk was busy are served by one sync.
func TestHost_OneSyncServesAllThatWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{}
		h, _ := hosting(t, disk, Options{BatchSteps: 1000})
		synctest.Wait()
		disk.let = make(chan struct{})
		before := disk.syncs.Load()
		done := make(chan total, 101)
		one := func() { done <- give(t, h, 1) }
		go one()
		synctest.Wait() // the first sync is under way
		for range 100 {
			go one()
		}
		synctest.Wait()
		disk.let <- struct{}{}
		disk.let <- struct{}{}
		synctest.Wait()
		close(disk.let)
		if n := disk.syncs.Load() - before; n != 2 || len(done) != 101 {
			t.Errorf("%d syncs for %d answers, want 2 for 101", n, len(done))
		}
		if s := only(h); s.Batch.Count != 2 || s.Batch.Sum != 101 {
			t.Errorf("batches %+v", s.Batch)
		}
		stop(t, h)
	})
}

// Facts for which nobody waits share the sync of whatever comes within Linger. If nothing
// comes, they are synced then.
func TestHost_FactsFromWhichNothingFollowsLinger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &journal.Memory{}
		h, _ := hosting(t, disk, Options{})
		tell := func(m agents.Message) {
			t.Helper()
			if err := h.Tell("user:ana", toy, m); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		syncs := func(want uint64, what string) {
			t.Helper()
			if s := only(h); s.Syncs != want {
				t.Errorf("%s: %d syncs, want %d", what, s.Syncs, want)
			}
		}
		linger := h.opt.Linger
		tell(keep{1})
		tell(wake{grid.Second, "late"})
		time.Sleep(linger - time.Nanosecond)
		tell(keep{1})
		syncs(0, "nobody waits")
		give(t, h, 1)
		syncs(1, "somebody asks")
		tell(keep{1})
		time.Sleep(linger - time.Nanosecond)
		syncs(1, "nobody waits again")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		syncs(2, "after Linger")
		tell(keep{1})
		heard(t, h)
		syncs(3, "somebody looks")
		tell(keep{1})
		tell(wake{grid.Millisecond, "soon"})
		syncs(4, "an alarm is due before that")
		tell(keep{1})
		stop(t, h)
		p := &purse{}
		if _, err := journal.Open(disk, journal.Options{Agent: toy, Codec: toyJournal.Codec}, p.Replay); err != nil || p.sum != 7 {
			t.Errorf("%d are kept, %v", p.sum, err)
		}
	})
}

// A batch ends at its bound of steps, though more wait.
func TestHost_ABatchEndsAtItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p := hosting(t, &journal.Memory{}, Options{BatchSteps: 8})
		synctest.Wait()
		p.gate = make(chan struct{})
		_ = h.Tell("user:ana", toy, wait{})
		for range 64 {
			_ = h.Tell("user:ana", toy, put{1})
		}
		close(p.gate)
		synctest.Wait()
		if s := only(h); s.Syncs != 8 || s.Steps != 66 {
			t.Errorf("%d syncs for %d steps, want 8 for 66", s.Syncs, s.Steps)
		}
		stop(t, h)
	})
}

// A step without a fact, in a batch without one, needs no sync.
func TestHost_NoFactNoSync(t *testing.T) {
	t.Parallel()
	h, _ := hosting(t, &journal.Memory{}, Options{})
	for range 10 {
		if _, err := h.Ask(t.Context(), "user:ana", toy, peek{}); err != nil {
			t.Fatal(err)
		}
	}
	if s := only(h); s.Syncs != 0 || s.Facts != 0 {
		t.Errorf("%d syncs, %d facts", s.Syncs, s.Facts)
	}
	stop(t, h)
}

// If anything fails (a sync, a write, a fact that no journal knows, the agent), the host
// says so, nothing of the batch leaves, and the agent does nothing more.
func TestHost_AFailureStopsRatherThanLies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault func(journal.Op, string) error
		m     agents.Message
		want  error
	}{
		{"sync", failing(journal.OpSync), put{1}, errDisk},
		{"append", failing(journal.OpAppend), put{1}, errDisk},
		{"unknown fact", nil, odd{}, ErrFailed},
		{"panic", nil, boom{}, ErrFailed},
		{"retired", nil, retire{}, ErrRetired},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			disk := &journal.Memory{}
			h, _ := hosting(t, disk, Options{})
			other := &purse{}
			if err := h.Add("site:other", other, &journal.Memory{}, toyJournal); err != nil {
				t.Fatal(err)
			}
			give(t, h, 5)
			ended := make(chan agents.Fact, 1)
			h.Watch(toy, func(_ grid.Time, f agents.Fact) { ended <- f })
			if err := h.View(t.Context(), toy, func(grid.Time, agents.Agent) { disk.Fault = c.fault }); err != nil {
				t.Fatal(err)
			}
			if m, err := h.Ask(t.Context(), "user:ana", toy, c.m); err == nil || !errors.Is(err, c.want) {
				t.Errorf("the asker got %v, %v; want %v", m, err, c.want)
			}
			select {
			case err := <-h.Failed():
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), string(toy)) {
					t.Errorf("failed with %v", err)
				}
			case <-time.After(patience):
				t.Fatal("nobody was told")
			}
			if f, ok := (<-ended).(WatchEnded); !ok || !errors.Is(f.Err, c.want) {
				t.Errorf("the watcher saw %v", f)
			}
			steps := h.Stats().Agents[1].Steps
			if _, err := h.Ask(t.Context(), "user:ana", toy, put{1}); !errors.Is(err, ErrFailed) {
				t.Errorf("asked afterwards: %v", err)
			}
			if err := h.View(t.Context(), toy, nil); err == nil {
				t.Error("seen afterwards")
			}
			if _, err := h.Ask(t.Context(), "user:ana", "site:other", put{1}); err != nil {
				t.Errorf("the other agent: %v", err)
			}
			if s := h.Stats().Agents[1]; s.ID != string(toy) || !s.Failed {
				t.Errorf("counted %+v", s)
			}
			stop(t, h)
			if h.Stats().Agents[1].Steps != steps {
				t.Error("the agent was handed more after its failure")
			}
		})
	}
}

// Alarms come at their instants, those of one instant in the order in which they
// were set, and one for the present behind all messages that wait.
func TestHost_AlarmsComeInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p := hosting(t, &journal.Memory{}, Options{})
		synctest.Wait()
		p.gate = make(chan struct{})
		for _, m := range []agents.Message{wait{}, wake{0, "now"}, wake{30 * grid.Second, "late"}, wake{10 * grid.Second, "first"},
			wake{10 * grid.Second, "second"}, wake{-grid.Hour, "past"}, word{"a"}, word{"b"}} {
			_ = h.Tell("user:ana", toy, m)
		}
		close(p.gate)
		synctest.Wait()
		if got, want := fmt.Sprint(heard(t, h)), "[started a b now past]"; got != want {
			t.Errorf("at once it heard %s, want %s", got, want)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		if n := len(heard(t, h)); n != 5 {
			t.Errorf("%d heard a millisecond before", n)
		}
		time.Sleep(time.Minute)
		if got, want := fmt.Sprint(heard(t, h)), "[started a b now past first second late]"; got != want {
			t.Errorf("it heard %s, want %s", got, want)
		}
		at := instants(t, h)
		at = at[len(at)-3:]
		if at[0] != at[1] || at[2].Sub(at[0]) != 20*grid.Second {
			t.Errorf("alarms at %v", at)
		}
		if n := only(h).Alarms; n != 0 {
			t.Errorf("%d alarms are set", n)
		}
		stop(t, h)
	})
}

// A full mailbox takes nothing more from the network or from askers, but what an
// agent of the same host sends has room, and so have alarms.
func TestHost_AFullMailboxRefusesAndCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p := hosting(t, &journal.Memory{}, Options{Mailbox: 4})
		p.gate = make(chan struct{})
		_ = h.Tell("user:ana", toy, wake{grid.Second, "alarm"})
		_ = h.Tell("user:ana", toy, wait{})
		synctest.Wait()
		e, err := wire.Encode("broker:vo1", toy, agents.OfferRequest{Cycle: 1, Horizon: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			if taken := h.Deliver(e); taken != (i < 4) {
				t.Errorf("envelope %d: taken %v", i, taken)
			}
		}
		if _, err := h.Ask(t.Context(), "user:ana", toy, peek{}); !errors.Is(err, ErrFull) {
			t.Errorf("asked: %v", err)
		}
		if err := h.View(t.Context(), toy, nil); !errors.Is(err, ErrFull) {
			t.Errorf("viewed: %v", err)
		}
		for range 6 { // of an agent of this host: twice the room
			h.send("cluster:toy", toy, word{"near"})
		}
		time.Sleep(2 * time.Second)
		close(p.gate)
		synctest.Wait()
		got := heard(t, h)
		want := []string{"started", "offer-request", "offer-request", "offer-request", "offer-request", "near", "near", "near", "near", "alarm"}
		if !slices.Equal(got, want) {
			t.Errorf("it heard %v", got)
		}
		if s := h.Stats(); s.Full != 2 || s.Agents[0].Dropped != 6 || s.In != 6 {
			t.Errorf("counted %+v", s)
		}
		stop(t, h)
	})
}

// Messages that the network may not carry do not reach an agent.
func TestDeliver_OnlyWhatTheAddresseeTakes(t *testing.T) {
	t.Parallel()
	h, _ := hosting(t, &journal.Memory{}, Options{})
	if err := h.Add("cluster:toy", &purse{}, &journal.Memory{}, toyJournal); err != nil {
		t.Fatal(err)
	}
	offer := func(to string) *wire.Envelope {
		e, err := wire.Encode("broker:vo1", toy, agents.OfferRequest{Cycle: 1, Horizon: 1000})
		if err != nil {
			t.Fatal(err)
		}
		e.To = to
		return e
	}
	for _, to := range []string{"cluster:toy", "broker:vo1", "user:ana#1.1", "site:elsewhere", "nobody", ""} {
		if !h.Deliver(offer(to)) {
			t.Errorf("%q is to be had again", to)
		}
	}
	if !h.Deliver(&wire.Envelope{Version: 99, From: "broker:vo1", To: string(toy)}) || !h.Deliver(&wire.Envelope{}) {
		t.Error("what cannot be read is to be had again")
	}
	s := h.Stats()
	if s.Nobody+s.Barred+s.Unknown != 8 || s.Agents[0].Steps+s.Agents[1].Steps > 2 {
		t.Errorf("counted %+v", s)
	}
	if got := heard(t, h); len(got) != 1 {
		t.Errorf("it heard %v", got)
	}
	stop(t, h)
	if h.Deliver(offer(string(toy))) || h.Stats().Stopping != 1 {
		t.Error("taken after the end")
	}
}

// A question without an answer ends with its context. An answer that comes too late is
// dropped.
func TestAsk_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p := hosting(t, &journal.Memory{}, Options{Asks: 1})
		synctest.Wait()
		p.gate = make(chan struct{})
		_ = h.Tell("user:ana", toy, wait{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			time.Sleep(time.Millisecond)
			if _, err := h.Ask(t.Context(), "user:bob", toy, peek{}); !errors.Is(err, ErrAsks) {
				t.Errorf("a second question: %v", err)
			}
		}()
		if _, err := h.Ask(ctx, "user:ana", toy, put{1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		close(p.gate)
		synctest.Wait()
		if s := h.Stats(); s.Nobody != 1 || s.Asks != 0 {
			t.Errorf("counted %+v", s)
		}
		if got := give(t, h, 1); got != (total{2, 2}) {
			t.Errorf("then it answered %v", got)
		}
		if _, err := h.Ask(t.Context(), "user:ana", "site:none", peek{}); !errors.Is(err, ErrUnknown) {
			t.Errorf("nobody answered %v", err)
		}
		stop(t, h)
	})
}

// Stop ends open questions, views and watches, and makes a restart short.
func TestStop_LeavesNothingOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &journal.Memory{}
		h, _ := hosting(t, disk, Options{})
		for range 10 {
			give(t, h, 1)
		}
		var end agents.Fact
		h.Watch(toy, func(_ grid.Time, f agents.Fact) { end = f })
		_ = h.Tell("user:ana", toy, wake{grid.Hour, "never"})
		go func() {
			if _, err := h.Ask(t.Context(), "user:ana", toy, word{"no answer"}); !errors.Is(err, ErrStopped) {
				t.Errorf("the open question ended with %v", err)
			}
		}()
		synctest.Wait()
		stop(t, h)
		synctest.Wait()
		if e, ok := end.(WatchEnded); !ok || !errors.Is(e.Err, ErrStopped) {
			t.Errorf("the watcher's last fact: %v", end)
		}
		for what, err := range map[string]error{
			"ask":  second(h.Ask(t.Context(), "user:ana", toy, peek{})),
			"view": h.View(t.Context(), toy, nil),
			"tell": h.Tell("user:ana", toy, peek{}),
			"add":  h.Add("site:new", &purse{}, &journal.Memory{}, toyJournal),
		} {
			if !errors.Is(err, ErrStopped) {
				t.Errorf("%s afterwards: %v", what, err)
			}
		}
		again, p := hosting(t, disk, Options{})
		if p.sum != 10 || p.added != 10 {
			t.Errorf("replayed %+v", p)
		}
		if err := again.View(t.Context(), toy, func(grid.Time, agents.Agent) {}); err != nil {
			t.Error(err)
		}
		stop(t, again)
	})
}

func second(_ agents.Message, err error) error { return err }

// An agent that does not come to an end is waited for no longer than told.
func TestStop_WaitsNoLongerThanTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p := hosting(t, &journal.Memory{}, Options{})
		synctest.Wait()
		gate := make(chan struct{})
		p.gate = gate
		_ = h.Tell("user:ana", toy, wait{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), string(toy)) {
			t.Errorf("stopped with %v", err)
		}
		close(gate)
	})
}

// A message for nobody here goes to the network. What cannot leave is counted and, if
// somebody waits for it, reported.
func TestTell_GoesToTheNetworkWhatIsNotHere(t *testing.T) {
	t.Parallel()
	h, net := quiet(Options{}), &lately{}
	if err := h.Tell("broker:vo1", "site:far", agents.OfferRequest{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("without a network: %v", err)
	}
	h.Connect(net)
	if err := h.Tell("broker:vo1", "site:far", agents.OfferRequest{Cycle: 7}); err != nil || net.count() != 1 {
		t.Errorf("told with %v, %d envelopes", err, net.count())
	}
	if err := h.Tell("broker:vo1", "site:far", put{1}); err == nil {
		t.Error("a message without a form on the wire was sent")
	}
	if s := h.Stats(); s.Out != 1 || s.Unsendable != 1 {
		t.Errorf("counted %+v", s)
	}
	stop(t, h)
}

// A journal begins anew after a number of facts, and loses nothing.
func TestHost_ImagesKeepJournalsShort(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	h, _ := hosting(t, disk, Options{SnapshotEvery: 10})
	for range 95 {
		give(t, h, 2)
	}
	if s := only(h); s.Images != 9 {
		t.Errorf("%d images", s.Images)
	}
	if err := h.View(t.Context(), toy, func(grid.Time, agents.Agent) { disk = disk.Clone() }); err != nil { // killed here
		t.Fatal(err)
	}
	disk.Crash(nil, false)
	j, err := journal.Open(disk, journal.Options{Agent: toy, Codec: toyJournal.Codec}, func(grid.Time, agents.Fact) {})
	if err != nil || j.Since() != 5 || j.Facts() != 95 {
		t.Errorf("%d of %d facts to replay, %v", j.Since(), j.Facts(), err)
	}
	again, p := hosting(t, disk, Options{})
	if p.sum != 190 || p.added != 95 {
		t.Errorf("replayed %d in %d", p.sum, p.added)
	}
	stop(t, h)
	stop(t, again)
}
