//go:build linux

package drill

import (
	"context"
	endian "encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// docs/OPERATING.md, "Upgrade": from the last release one process at a time, and back. In
// every mixture windows over two sites are bought, what was sold before the upgrade is kept
// through all of it, and the journals of all hold.
func TestUpgrade_OneProcessAtATimeAndBack(t *testing.T) {
	t.Parallel()
	old := lastRelease(t)
	f := lay(t, plan{broker: "batch_size = 1\n", program: old.program, sites: threeSites()[:2]})
	north, south := f.site("north"), f.site("south")
	if said, err := exec.Command(old.program, "version").Output(); err != nil || !strings.Contains(string(said), old.commit) {
		t.Fatalf("the last release says that it is %q: %v", said, err)
	}
	f.start()
	f.wide("old")
	standing := f.placedLater("standing", 110, 10*grid.Minute)
	for _, a := range f.agents {
		f.copies(a)
	}
	f.turnTo(north, binary)
	f.wide("site new")
	f.turnTo(f.broker, binary)
	f.wide("broker new, site old")
	f.turnBack(north, old)
	f.wide("site back")
	f.turnTo(south, binary)
	f.turnBack(f.broker, old)
	f.wide("broker back, site new")
	f.turnTo(north, binary)
	f.turnTo(f.broker, binary)
	f.wide("new")
	j, err := f.client().Job(context.Background(), standing.ID)
	must(t, err)
	if j.State != "placed" || !f.whole(&j) || !reflect.DeepEqual(j.Legs, standing.Legs) {
		t.Errorf("sold by the last release:\n%+v\nand now:\n%+v", standing, j)
	}
	f.stop()
	must(t, os.RemoveAll(filepath.Join(f.dir, "backup"))) // verify takes each journal once
	f.verify()
}

// wide buys a window that no site can carry alone.
func (f *federation) wide(name string) { f.t.Helper(); f.place(name, 110, grid.Second, patience) }

// turnTo stops an agent and starts it as another program.
func (f *federation) turnTo(a *agent, program string) {
	f.t.Helper()
	a.stop()
	a.program = program
	a.start()
	a.ready()
	f.together()
}

// together waits until the broker counts on all sites.
func (f *federation) together() {
	f.t.Helper()
	eventually(f.t, patience, "the broker knows all sites", func() bool { return f.usable() == len(f.agents)-1 })
}

// turnBack starts an agent as the release before, on the journal that the later one has
// written. If that has what the release does not know, it refuses in words, and goes on from
// the copy of before the upgrade.
func (f *federation) turnBack(a *agent, old *release) {
	f.t.Helper()
	a.stop()
	a.program = old.program
	a.start()
	select {
	case <-a.begun:
		f.t.Logf("%s: %s goes on from what this build has written", a.id(), old.version)
	case <-a.ended:
		f.t.Logf("%s: %s does not know all that this build has written: %s", a.id(), old.version, a.tail(1))
		a.refusedLater()
		f.holds("BourseDown", a)
		f.putBack(a)
		a.start()
		select {
		case <-a.begun:
		case <-a.ended: // a broker of the past is fenced first, and takes the next number
			a.start()
			a.ready()
		}
	case <-time.After(patience):
		f.t.Fatalf("%s is not ready within %v\n%s", a.id(), patience, a.tail(20))
	}
	f.together()
}

// refusedLater holds an agent that has ended to the words of docs/OPERATING.md.
func (a *agent) refusedLater() {
	a.f.t.Helper()
	if code := a.fails(patience); code != 1 || !a.said("another release of bourse, as a rule a later one, has written it", "restore the copy that was made before the upgrade") {
		a.f.t.Errorf("%s ends with %d, and does not say what to do:\n%s", a.id(), code, a.tail(5))
	}
}

// A release refuses a journal with facts that it does not know, names them and changes nothing: the
// last release does, as this build does. It continues from the copy made before the upgrade.
func TestUpgrade_WhatAReleaseDoesNotKnowItRefuses(t *testing.T) {
	t.Parallel()
	old := lastRelease(t)
	f := lay(t, plan{broker: "batch_size = 1\n", program: old.program, sites: threeSites()[:1]})
	f.start()
	f.place("before", 10, grid.Second, patience)
	north := f.site("north")
	f.stop()
	f.copies(north)
	segment, whole := lastSegment(t, north.facts())
	fact := later(t, north.facts(), whole, `{"at":1,"kind":"nodes-blessed","fact":{}}`)
	for _, c := range []struct {
		about, says string
		text        []byte
	}{
		{"a kind of fact", `fact of kind \"nodes-blessed\" is unknown to this build`, fact},
		{"a version of the journal", "says journal version 2, and this build reads version 1", append([]byte("bourse journal 2\n"), whole[len("bourse journal 1\n"):]...)},
	} {
		for _, program := range []string{old.program, binary} {
			must(t, os.WriteFile(segment, c.text, 0o600))
			north.program = program
			north.start()
			north.refusedLater()
			if !north.said(c.says) {
				t.Errorf("of %s that it does not know %s says\n%s", c.about, program, north.tail(3))
			}
			if is, err := os.ReadFile(segment); err != nil || string(is) != string(c.text) {
				t.Errorf("the journal was changed: %v", err)
			}
		}
	}
	f.putBack(north)
	north.program = old.program
	f.start()
	f.place("after", 10, grid.Second, patience)
	f.stop()
	f.verify()
}

// lastSegment is the file of a journal that a start reads, and what is in it.
func lastSegment(t *testing.T, dir string) (name string, text []byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	must(t, err)
	name = slices.Max(names)
	text, err = os.ReadFile(name)
	must(t, err)
	return name, text
}

// later is a segment with one more fact, as docs/JOURNAL.md says how facts are framed.
func later(t *testing.T, dir string, segment []byte, payload string) []byte {
	t.Helper()
	folder, err := journal.LookInto(dir)
	must(t, err)
	defer func() { _ = folder.Close() }()
	number := uint64(0)
	_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error { number = r.Number; return nil })
	must(t, err)
	payload += "\n"
	head := make([]byte, 16)
	endian.LittleEndian.PutUint32(head, uint32(len(payload)))
	endian.LittleEndian.PutUint64(head[8:], number+1)
	sum := crc32.MakeTable(crc32.Castagnoli)
	check := crc32.Update(crc32.Checksum(head[:4], sum), sum, head[8:])
	endian.LittleEndian.PutUint32(head[4:], crc32.Update(check, sum, []byte(payload)))
	return slices.Concat(segment, head, []byte(payload))
}

// Agents of both releases in a random mixture that changes all the time, under users who
// submit, look and cancel: as under kills, nothing that they were told is lost.
func TestUpgrade_InEveryMixtureNothingIsLost(t *testing.T) {
	t.Parallel()
	if !*long {
		t.Skip("it takes minutes: make upgrade-drill")
	}
	old := lastRelease(t)
	for i := range forms(1, 5) {
		t.Run(fmt.Sprintf("seed%d", *seed+i), func(t *testing.T) {
			f := lay(t, plan{broker: "batch_size = 1\n", program: old.program})
			f.start()
			r := rand.New(rand.NewPCG(*seed+i, 2))
			l := newLoad(f, 200)
			changes := f.mix(r, old, l.run(r.Uint64()))
			t.Logf("%d changes: %v", len(changes), changes)
			l.settle()
			f.held(l)
		})
	}
}

// mix starts agents again as the one or the other release until the load is over, at least
// twelve times; every other time without letting them leave.
func (f *federation) mix(r *rand.Rand, old *release, done <-chan struct{}) (changes []string) {
	f.t.Helper()
	for {
		select {
		case <-done:
			if len(changes) >= 12 {
				return changes
			}
		case <-time.After(time.Duration(200+r.IntN(800)) * time.Millisecond):
		}
		a := f.agents[r.IntN(len(f.agents))]
		if r.IntN(2) == 0 {
			a.kill()
		} else {
			a.stop()
		}
		name := a.id() + " new"
		if a.program = binary; r.IntN(2) == 0 {
			a.program, name = old.program, a.id()+" old"
		}
		a.start()
		select {
		case <-a.begun:
		case <-a.ended: // it goes on as the release that knows all of it
			a.refusedLater()
			a.program, name = binary, name+", refused"
			a.start()
		}
		a.ready()
		changes = append(changes, name)
	}
}
