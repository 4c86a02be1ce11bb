package journal

import (
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// twoDisks are a main disk and its mirror in memory, with a journal on both. No clock runs:
// nothing is ever late, a mirror that is required is tried again at once, and another one
// at retry.
type twoDisks struct {
	main, second *Memory
	down         atomic.Bool                    // the second one cannot be opened
	fails        atomic.Int64                   // after so many operations one fails; negative: none
	refuse       func(op Op, name string) error // of the second one, if set; called by the mirror's goroutine
	required     bool
	m            *Mirror
	j            *Journal
	again        chan time.Time // lets a mirror that is behind be tried
	tried        chan struct{}  // it waits for that, or is current again
}

func newTwoDisks(required bool) *twoDisks {
	d := &twoDisks{main: &Memory{}, required: required}
	d.replace()
	return d
}

// replace puts an empty disk in the place of the second one.
func (d *twoDisks) replace() {
	d.second = &Memory{}
	d.fails.Store(-1)
}

// The times only tell what is being waited for.
const (
	twoWait  = 8 * time.Hour
	twoRetry = 2 * time.Hour
)

// open begins a life. Nothing is tried again in the background.
func (d *twoDisks) open() ([]entry, error) {
	second := d.second
	second.Fault = func(op Op, name string) error {
		if op != OpRead && d.fails.Add(-1) == -1 {
			return errBroken
		}
		if d.refuse != nil {
			return d.refuse(op, name)
		}
		return nil
	}
	d.fails.Store(-1)
	again, tried := make(chan time.Time), make(chan struct{}, 1)
	d.again, d.tried = again, tried
	opt := MirrorOptions{Required: d.required, Wait: twoWait, Retry: twoRetry}
	opt.Open = func(string) (Disk, error) {
		if d.down.Load() {
			return nil, errBroken
		}
		return second, nil
	}
	opt.After = func(pause time.Duration) <-chan time.Time {
		switch pause {
		case twoWait:
			return nil
		case twoRetry:
			tried <- struct{}{}
			return again
		}
		now := make(chan time.Time)
		close(now)
		return now
	}
	opt.Tell = func(s MirrorState) {
		if s.Current && s.Failures > 0 && !d.required {
			tried <- struct{}{}
		}
	}
	var err error
	d.m, err = OpenMirror(d.main, opt)
	if err != nil {
		return nil, err
	}
	var list []entry
	d.j, err = Open(d.m, withImage, collect(&list))
	return list, err
}

// retry lets a mirror that is behind be tried again, once.
func (d *twoDisks) retry() {
	if d.required || d.m.State().Current {
		return
	}
	<-d.tried
	d.again <- time.Time{}
	<-d.tried
	if !d.m.State().Current {
		d.tried <- struct{}{} // it waits again
	}
}

// kill ends the life of the process at once. The machine goes on, with what was written.
func (d *twoDisks) kill() {
	close(d.m.stop)
	d.m.ends.Wait()
	if l := d.m.link; l != nil {
		l.close(true)
		<-l.done
	}
	d.main.Fault, d.second.Fault = nil, nil
}

// crash ends the life at once, and leaves on each disk what it has synced and some more.
func (d *twoDisks) crash(keep func(string, int, int) int, names bool) {
	d.kill()
	d.main.Crash(keep, names)
	d.second.Crash(keep, !names)
}

// factsOn are those that a replay of a disk shows, without images.
func factsOn(t interface {
	Helper()
	Fatal(args ...any)
}, disk *Memory) uint64 {
	t.Helper()
	var list []entry
	j, err := Open(disk.Clone(), withImage, collect(&list))
	if err != nil {
		t.Fatal(err)
	}
	return j.Facts()
}

// Whatever fails and whenever the process dies, alone or with the machine: what was
// answered or replayed is on the main disk and, if the mirror is required or was current, on
// the mirror. Both go on from either.
func TestMirror_AllThatWasAnsweredIsOnTheDiskThatIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) { newTwoLives(r).live() })
}

// twoLives are the lives of a journal on two disks.
type twoLives struct {
	*twoDisks
	r                        *rapid.T
	next, answered, mirrored uint64 // facts
	forgets                  bool   // the mirror does, see Memory
	alive                    bool
}

func newTwoLives(r *rapid.T) *twoLives {
	l := &twoLives{twoDisks: newTwoDisks(rapid.Bool().Draw(r, "required")), r: r, forgets: rapid.Bool().Draw(r, "forgets")}
	l.second.Forgets = l.forgets
	return l
}

func (l *twoLives) live() {
	for range rapid.IntRange(1, 40).Draw(l.r, "steps") {
		if !l.alive {
			l.begin()
		}
		if err := l.step(); err != nil {
			l.die()
		}
	}
}

func (l *twoLives) begin() {
	if _, err := l.open(); err != nil {
		l.r.Fatalf("a life does not begin: %v", err)
	}
	if l.next = l.j.Facts(); l.next < l.answered {
		l.r.Fatalf("%d facts were answered, %d are left", l.answered, l.next)
	}
	l.alive = true
	l.told()
}

// told takes note that all facts may be known outside.
func (l *twoLives) told() {
	l.answered = l.next
	if l.m.State().Current {
		l.mirrored = l.next
	}
}

func (l *twoLives) die() {
	l.alive = false
	if !l.forgets && rapid.Bool().Draw(l.r, "killed") {
		l.kill()
		return
	}
	share := rapid.IntRange(0, 4).Draw(l.r, "share")
	l.crash(func(_ string, synced, written int) int { return synced + (written-synced)*share/4 }, rapid.Bool().Draw(l.r, "names"))
}

// step does one thing. After an error the process must die.
func (l *twoLives) step() error {
	switch what := rapid.IntRange(0, 10).Draw(l.r, "what"); what {
	case 0, 1, 2, 3, 4:
		return l.answer(what == 4)
	case 5:
		l.fails.Store(int64(rapid.IntRange(0, 12).Draw(l.r, "after")))
	case 6:
		l.die()
	case 7:
		l.die()
		l.loseMain()
	case 8:
		l.die()
		if has := factsOn(l.r, l.main); has < l.answered {
			l.r.Fatalf("%d facts were answered, the main disk has %d", l.answered, has)
		}
		l.replace()
		l.second.Forgets = l.forgets
		l.mirrored = 0
	case 9:
		left := rapid.IntRange(0, 6).Draw(l.r, "left")
		l.main.Fault = func(Op, string) error {
			if left--; left < 0 {
				return errBroken
			}
			return nil
		}
	case 10:
		if l.main.Fault == nil { // it counts the operations of one goroutine
			l.retry()
			if l.m.State().Current {
				l.mirrored = l.answered
			}
		}
	}
	return nil
}

// answer records some facts and makes them durable, by an image of them or without one.
func (l *twoLives) answer(whole bool) error {
	for range rapid.IntRange(1, 3).Draw(l.r, "facts") {
		if err := l.j.Append(grid.Time(l.next+1), leg(int(l.next+1))); err != nil {
			return err
		}
		l.next++
	}
	var err error
	if whole {
		err = l.j.Snapshot(grid.Time(l.next), image{l.next})
	} else {
		err = l.j.Sync()
	}
	if err == nil {
		l.told()
	}
	return err
}

// loseMain goes on from the mirror after the main disk is lost.
func (l *twoLives) loseMain() {
	want := l.mirrored
	if l.required {
		want = l.answered
	}
	if has := factsOn(l.r, l.second); has < want {
		l.r.Fatalf("%d facts were answered, the mirror has %d", want, has)
	}
	l.main = &Memory{}
	if list, err := segments(l.second); err != nil || len(list) == 0 && want == 0 {
		l.replace() // it never had any of the journal
		l.second.Forgets = l.forgets
	} else if _, err := Restore(l.second, l.main); err != nil {
		l.r.Fatal(err)
	}
	l.answered = want
}
