package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A replica's journal contains the facts of another agent inside its own. A reader is shown
// that agent's facts, once each, in the order of the log, as if the agent had been alone:
// an entry once the journal says that it is committed, and those after it at the end.
// Another replica may know that the last ones are void; likewise, the journal of an
// unreplicated agent does not show whether anything followed from its last facts.

// Within returns the agent inside a replica, given the replica's name or the agent's own:
// "broker:vo1" for "replica:vo1/2".
func Within(id agents.ID) agents.ID {
	name, is := strings.CutPrefix(string(id), string(agents.Replica)+":")
	at := strings.LastIndexByte(name, '/')
	if !is || at < 0 {
		return id
	}
	return agents.ID(string(agents.Broker) + ":" + name[:at])
}

// unwrapper turns a replica's records into those of the agent inside. Other records pass
// unchanged.
type unwrapper struct {
	see     func(Record, []byte) error // the payload is nil if the fact is already decoded
	applied uint64                     // index of the last entry shown
	number  uint64                     // number of the last fact
	entries []grid.ReplicaEntry        // entries after it, not known to be committed
	parts   []grid.ReplicaPart         // parts of an incomplete image
	last    Record                     // its place is used for the entries at the end
}

// take handles a record.
func (u *unwrapper) take(r Record) error {
	switch f := r.Fact.(type) {
	case grid.ReplicaState:
		return u.commit(r, f.Commit)
	case grid.ReplicaEntry:
		if f.Index > u.applied {
			u.entries = append(slices.DeleteFunc(u.entries, func(e grid.ReplicaEntry) bool { return e.Index >= f.Index }), f)
			u.last = r
		}
		return u.commit(r, f.Commit)
	case grid.ReplicaPart:
		if f.Part == 0 {
			u.parts = nil
		}
		u.parts = append(u.parts, f)
		return nil
	case grid.ReplicaInstalled:
		return u.install(r, f.Index)
	case grid.ReplicaWhole:
		u.parts = append(u.parts[:0], f.Parts...)
		if err := u.install(r, u.indexOfParts()); err != nil {
			return err
		}
		for _, e := range f.Entries {
			r.Fact = e
			if err := u.take(r); err != nil {
				return err
			}
		}
		return u.commit(r, f.State.Commit)
	}
	return u.see(r, nil)
}

func (u *unwrapper) indexOfParts() uint64 {
	if len(u.parts) == 0 {
		return 0
	}
	return u.parts[0].Index
}

// install shows an image, unless everything in it has been shown.
func (u *unwrapper) install(r Record, index uint64) error {
	parts := u.parts
	u.parts = nil
	if index <= u.applied {
		return nil
	}
	u.applied = index
	u.entries = slices.DeleteFunc(u.entries, func(e grid.ReplicaEntry) bool { return e.Index <= index })
	for _, p := range parts {
		if len(p.Fact) == 0 {
			continue
		}
		if err := u.show(r, p.Fact, true); err != nil {
			return err
		}
	}
	return nil
}

// commit shows the entries up to an index.
func (u *unwrapper) commit(r Record, index uint64) error {
	n := 0
	for n < len(u.entries) && u.entries[n].Index <= index {
		if err := u.entry(r, &u.entries[n]); err != nil {
			return err
		}
		n++
	}
	u.entries = slices.Delete(u.entries, 0, n)
	return nil
}

func (u *unwrapper) entry(r Record, e *grid.ReplicaEntry) error {
	u.applied = e.Index
	if len(e.Facts) == 0 {
		return nil
	}
	var records []json.RawMessage
	if err := json.Unmarshal(e.Facts, &records); err != nil {
		return fmt.Errorf("%s: record %d at byte %d: entry %d: %w", r.File, r.Number, r.Offset, e.Index, err)
	}
	for _, x := range records {
		if err := u.show(r, x, false); err != nil {
			return err
		}
	}
	return nil
}

// show shows one fact of the agent inside, at the place of the replica's record.
func (u *unwrapper) show(r Record, payload json.RawMessage, image bool) error {
	if !image {
		u.number++
	}
	r.Number, r.Image, r.Fact, r.Agent = u.number, image, nil, Within(r.Agent)
	return u.see(r, append(slices.Clip(payload), '\n'))
}

// end shows what is left.
func (u *unwrapper) end() error {
	if len(u.entries) == 0 {
		return nil
	}
	return u.commit(u.last, u.entries[len(u.entries)-1].Index)
}

// unwrapped makes visit see the facts inside a replica's. The second function must be
// called at the end.
func unwrapped(codec *Codec, visit func(Record) error) (take func(Record) error, end func() error) {
	d := newReader(codec)
	u := unwrapper{see: func(r Record, payload []byte) (err error) {
		if payload != nil {
			if r.At, r.Fact, err = d.record(payload); err != nil {
				return fmt.Errorf("%s: record at byte %d: a fact within: %w", r.File, r.Offset, err)
			}
		}
		return visit(r)
	}}
	return u.take, u.end
}

// replicated reports whether a kind of fact is a replica's own.
func replicated(kind string) bool {
	return slices.ContainsFunc(grid.ReplicaFacts(), func(f interface{ Kind() string }) bool { return f.Kind() == kind })
}

// findWithin is Find for a replica's journal. A place is the number of a fact among all
// that it shows.
func findWithin(disk Disk, codec *Codec, sieve Sieve, stop func() error, visit func(Record) error) error {
	d := newReader(codec)
	each := func(see func(n uint64, kind string, r Record, payload []byte) error) error {
		n := uint64(0)
		u := unwrapper{see: func(r Record, payload []byte) error {
			n++
			if n%256 == 0 && stop != nil {
				if err := stop(); err != nil {
					return err
				}
			}
			kind, ok := kindOf(codec, payload)
			if !ok {
				_, _, err := d.record(payload)
				return fmt.Errorf("%s: record at byte %d: a fact within: %w", r.File, r.Offset, err)
			}
			return see(n, kind, r, payload)
		}}
		if _, err := read(disk, codec, u.take); err != nil {
			return err
		}
		return u.end()
	}
	decoded := func(r Record, payload []byte) (Record, error) {
		var err error
		r.At, r.Fact, err = d.record(payload)
		return r, err
	}
	err := each(func(n uint64, kind string, r Record, payload []byte) error {
		if !sieve.Look(n, kind, payload) {
			return nil
		}
		r, err := decoded(r, payload)
		if err == nil {
			sieve.Learn(n, r.Fact)
		}
		return err
	})
	if err != nil {
		return err
	}
	places := sieve.Places()
	return each(func(n uint64, _ string, r Record, payload []byte) error {
		if len(places) == 0 || places[0] != n {
			return nil
		}
		places = places[1:]
		r, err := decoded(r, payload)
		if err == nil {
			err = visit(r)
		}
		return err
	})
}
