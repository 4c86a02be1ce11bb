package sim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// Older segments of a journal are read by nobody for a long time. When a bit of one is wrong,
// the process goes on and restarts as if nothing were; whoever reads the journal is refused
// with the file and the byte; and nothing is changed until the file is put back.

// rot is a wrong bit in an older segment.
type rot struct {
	name      string
	bit       int
	good, bad []byte
}

// rots flips a bit of an older segment while the process runs, or as it dies, and has the
// operator read the journal after a while.
func (p *process) rots(f Fault, draw stream) {
	w, names := p.world, segments(p.disk)
	if len(names) < 2 || p.rot != nil {
		return
	}
	r := &rot{name: names[draw.below(len(names)-1)]}
	r.good, _ = p.disk.Read(r.name)
	r.bit = draw.below(8 * len(r.good))
	p.disk.Flip(r.name, r.bit)
	r.bad, _ = p.disk.Read(r.name)
	p.rot = r
	w.struck(Rot)
	if draw.chance(400) {
		p.crash(draw.within(1, 5*grid.Second), nil)
	}
	w.do(w.now.Add(f.For), func() {
		if err := p.inspect(r); err != nil {
			w.Stop(err)
		}
	})
}

// segments lists the files of a journal's segments.
func segments(disk *journal.Memory) (list []string) {
	names, _ := disk.Names()
	for _, name := range names {
		if strings.HasSuffix(name, ".journal") {
			list = append(list, name)
		}
	}
	return list
}

// inspect has an operator read a journal in which a bit is wrong, and put the file back.
func (p *process) inspect(r *rot) error {
	p.rot = nil
	data, err := p.disk.Read(r.name)
	if err != nil || !bytes.Equal(data, r.bad) || p.gone() {
		return nil // another disk has taken its place
	}
	w, id := p.world, p.world.names[p.name]
	found := w.verify(p.disk)
	p.disk.Flip(r.name, r.bit)
	var damage *journal.CorruptError
	switch {
	case errors.As(found, &damage) && damage.File == r.name && damage.Offset <= int64(r.bit/8):
	case w.verify(p.disk) != nil: // something else is wrong there too, and was found first
	default:
		return fmt.Errorf("I11: byte %d of %s of %s is wrong, and whoever reads the journal is told: %v", r.bit/8, r.name, id, found)
	}
	w.trace("%s is put back: %v", r.name, found)
	return nil
}

// verify reads every byte of a journal.
func (w *Faulty) verify(disk *journal.Memory) error {
	_, err := journal.Read(disk.Clone(), w.opt.Codec, func(journal.Record) error { return nil })
	return err
}
