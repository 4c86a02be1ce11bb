package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

const toyDriver agents.ID = "driver:toy"

// hand is a driver that answers as soon as its gate is open, and keeps account of
// what it was doing.
type hand struct {
	gate map[string]chan struct{} // by kind of message; none: it is open

	mu    sync.Mutex
	begun []string
	over  []error // of the context, of calls that ended with it
}

func (d *hand) Do(ctx context.Context, m agents.Message, answer func(agents.Message)) {
	d.mu.Lock()
	d.begun = append(d.begun, named(m))
	d.mu.Unlock()
	if gate := d.gate[m.Kind()]; gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			d.mu.Lock()
			d.over = append(d.over, ctx.Err())
			d.mu.Unlock()
			return
		}
	}
	switch m := m.(type) {
	case agents.Command:
		if m.Name == "boom" {
			panic("no such nodes")
		}
		answer(agents.CommandDone{Ref: m.Ref, Name: m.Name, Outcome: agents.Done})
	case agents.LookRequest:
		answer(agents.Looked{Ref: m.Ref})
	case agents.OutputRequest:
		answer(agents.Output{Ref: m.Ref})
	}
}

func (d *hand) did() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.begun)
}

// named tells messages apart.
func named(m agents.Message) string {
	if c, ok := m.(agents.Command); ok {
		return c.Name
	}
	return m.Kind()
}

// asking is an agent that passes orders on to the driver, and records the answers and
// their senders.
type asking struct {
	purse
	told []string
}

func (a *asking) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Command, agents.LookRequest, agents.OutputRequest:
		out.Send(toyDriver, m)
	case agents.CommandDone:
		a.told = append(a.told, fmt.Sprintf("%s: %s of %s", from, m.Outcome, m.Name))
	case agents.Looked, agents.Output:
		a.told = append(a.told, fmt.Sprintf("%s: %s", from, m.Kind()))
	default:
		a.purse.Step(now, from, m, out)
	}
}

// driving is a host with an agent that has a driver.
func driving(t *testing.T, d Driver, opt Options) (*Host, func() []string) {
	t.Helper()
	h, a := quiet(opt), &asking{}
	if err := h.Add(toy, a, &journal.Memory{}, toyJournal); err != nil {
		t.Fatal(err)
	}
	if err := h.AddDriver(toyDriver, d); err != nil {
		t.Fatal(err)
	}
	return h, func() (told []string) {
		if err := h.View(t.Context(), toy, func(_ grid.Time, v agents.Agent) { told = slices.Clone(v.(*asking).told) }); err != nil {
			t.Fatal(err)
		}
		return told
	}
}

func order(t *testing.T, h *Host, list ...agents.Message) {
	t.Helper()
	for _, m := range list {
		if err := h.Tell("user:ana", toy, m); err != nil {
			t.Fatal(err)
		}
	}
}

// Commands are carried out one at a time in the order in which they were sent; looks
// and outputs do not wait for them. What the driver answers comes from the driver.
func TestDriver_CommandsInOrderAndLooksBeside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		d := &hand{gate: map[string]chan struct{}{"Command": gate}}
		h, told := driving(t, d, Options{})
		order(t, h, agents.Command{Name: "first"}, agents.Command{Name: "second"}, agents.Command{Name: "third"})
		synctest.Wait()
		if did := d.did(); !slices.Equal(did, []string{"first"}) {
			t.Errorf("%q are under way at once", did)
		}
		order(t, h, agents.LookRequest{}, agents.OutputRequest{})
		synctest.Wait()
		got := told()
		if slices.Sort(got); !slices.Equal(got, []string{"driver:toy: Looked", "driver:toy: Output"}) {
			t.Errorf("beside a slow command: %q", got)
		}
		close(gate)
		synctest.Wait()
		want := []string{"driver:toy: done of first", "driver:toy: done of second", "driver:toy: done of third"}
		if got := told()[2:]; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		s := h.Stats().Drivers
		if i := slices.IndexFunc(s, func(s DriverStats) bool { return s.Kind == "Command" }); len(s) != 3 || i < 0 || s[i].Done != 3 || s[i].ID != "driver:toy" {
			t.Errorf("counted %+v", s)
		}
		stop(t, h)
	})
}

// An asker in this process is answered too. A question about something that no driver
// knows is not answered.
func TestDriver_AnswersWhoeverAsksHere(t *testing.T) {
	t.Parallel()
	h, _ := driving(t, &hand{}, Options{})
	if m, err := h.Ask(t.Context(), "operator:ana", toyDriver, agents.OutputRequest{Ref: 7}); err != nil || m.(agents.Output).Ref != 7 {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := h.Ask(t.Context(), "operator:ana", toyDriver, put{1}); err == nil || !strings.Contains(err.Error(), "takes no put") {
		t.Errorf("%v, %v", m, err)
	}
	stop(t, h)
}

// Beyond the bound the newest is dropped and counted, and those before it are done.
func TestDriver_DropsTheNewestAtItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		d := &hand{gate: map[string]chan struct{}{"Command": gate}}
		h, told := driving(t, d, Options{Orders: 2})
		order(t, h, agents.Command{Name: "0"})
		synctest.Wait()
		for i := range 5 {
			order(t, h, agents.Command{Name: fmt.Sprint(i + 1)})
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if did := d.did(); !slices.Equal(did, []string{"0", "1", "2"}) || len(told()) != 3 {
			t.Errorf("did %q, told %q", did, told())
		}
		if s := h.Stats().Drivers; s[1].Dropped != 3 || s[1].Waiting != 0 {
			t.Errorf("counted %+v", s[1])
		}
		if err := h.Tell("user:ana", toyDriver, agents.Command{Name: "6"}); err != nil {
			t.Error(err)
		}
		stop(t, h)
	})
}

// A stop lets the present call end and begins none of the waiting ones. When its patience
// is over, it cancels the call.
func TestDriver_StopWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, patient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			d := &hand{gate: map[string]chan struct{}{"Command": gate}}
			h, _ := driving(t, d, Options{})
			order(t, h, agents.Command{Name: "first"}, agents.Command{Name: "second"})
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- h.Stop(ctx) }()
			synctest.Wait()
			if len(done) > 0 {
				t.Fatal("it has not waited")
			}
			if patient {
				close(gate)
			}
			err := <-done
			synctest.Wait()
			if patient && (err != nil || len(d.over) > 0) {
				t.Errorf("%v, cancelled %v", err, d.over)
			}
			if !patient && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "driver:toy") || len(d.over) != 1) {
				t.Errorf("%v, cancelled %v", err, d.over)
			}
			if did := d.did(); !slices.Equal(did, []string{"first"}) {
				t.Errorf("did %q", did)
			}
			if err := h.Tell("user:ana", toyDriver, agents.LookRequest{}); !errors.Is(err, ErrStopped) && !errors.Is(err, ErrUnknown) {
				t.Errorf("after the stop: %v", err)
			}
			if err := h.AddDriver("driver:late", d); !errors.Is(err, ErrStopped) {
				t.Errorf("a driver after the stop: %v", err)
			}
			if !patient {
				h.system.Shutdown()
			}
		})
	}
}

// A panic is counted, and the next message is done.
func TestDriver_APanicEndsOneCallOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, told := driving(t, &hand{}, Options{})
		order(t, h, agents.Command{Name: "boom"}, agents.Command{Name: "next"})
		synctest.Wait()
		if got := told(); !slices.Equal(got, []string{"driver:toy: done of next"}) {
			t.Errorf("%q", got)
		}
		if s := h.Stats().Drivers; s[1].Failed != 1 || s[1].Done != 2 {
			t.Errorf("counted %+v", s[1])
		}
		stop(t, h)
	})
}

// A name has one driver, and it is a driver's name.
func TestDriver_OneForAName(t *testing.T) {
	t.Parallel()
	h, _ := driving(t, &hand{}, Options{})
	if err := h.AddDriver(toyDriver, &hand{}); !errors.Is(err, errNoSecond) {
		t.Errorf("a second one: %v", err)
	}
	if err := h.AddDriver("site:north", &hand{}); !errors.Is(err, errNoDriver) {
		t.Errorf("a site: %v", err)
	}
	stop(t, h)
}
