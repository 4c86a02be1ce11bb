package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/mirror"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/web"
)

// mirrorWait is how long what is answered waits for the second copy at most.
const mirrorWait = 10 * time.Second

// mirrored is the journal of an agent that is kept twice.
type mirrored struct {
	agent agents.ID
	disk  *journal.Mirror
}

// mirror has the journal of an agent kept a second time, if the process's file says so.
func (p *process) mirror(id agents.ID, main *journal.Folder) (journal.Disk, error) {
	place := mirrorPlace(&p.cfg.Journal)
	if place == "" {
		return main, nil
	}
	open, err := p.mirrorOpener(id)
	if err != nil {
		return nil, err
	}
	if p.fence == nil {
		p.fence = make(chan error, 1)
	}
	log := p.log.With().Str("agent", string(id)).Str("mirror", place).Logger()
	m, err := journal.OpenMirror(main, journal.MirrorOptions{Open: open, Required: p.cfg.Journal.MirrorRequired, Wait: mirrorWait,
		Tell: func(s journal.MirrorState) {
			switch {
			case errors.Is(s.Err, journal.ErrFenced):
				select {
				case p.fence <- fmt.Errorf("%s: %w", id, s.Err):
				default: // that is known
				}
			case !s.Current:
				log.Error().Err(s.Err).Msg("the journal has one copy: its mirror is behind")
			case s.Took > 0 && s.Failures == 0:
				log.Warn().Uint64("facts", s.Took).Msg("the mirror had more than the journal here, which nobody was told of yet: taken over")
			case s.Differed > 0 && s.Failures == 0:
				log.Warn().Int("segments", s.Differed).Msg("the mirror had other records than the journal here, which counts: they are written anew; if this comes again, one of the two disks is to be doubted")
			default:
				log.Info().Msg("the journal is kept twice")
			}
		}})
	if err != nil {
		return nil, err
	}
	p.twice = append(p.twice, &mirrored{id, m})
	return m, nil
}

// mirrorPlace is where second copies are; "": nowhere.
func mirrorPlace(j *configs.Journal) string { return cmp.Or(j.MirrorHost, j.MirrorDir) }

// mirrorOpener says how the second copy of an agent's journal is opened.
func (p *process) mirrorOpener(id agents.ID) (func(string) (journal.Disk, error), error) {
	name, j := mirror.Folder(id), &p.cfg.Journal
	if j.MirrorHost == "" {
		return func(string) (journal.Disk, error) { return openMirrorFolder(j.MirrorDir, name) }, nil
	}
	store := p.store
	if store == nil && !p.cfg.TLS.Plain {
		var err error
		if store, err = p.load(p.cfg.TLS, ""); err != nil {
			return nil, err
		}
	}
	return func(claim string) (journal.Disk, error) {
		return dialMirror(j.MirrorHost, store, name, claim)
	}, nil
}

// dialMirror returns no disk at all with an error.
func dialMirror(host string, store *certificate.Store, name, claim string) (journal.Disk, error) {
	d, err := mirror.Open(host, store, mirrorWait, name, claim)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// openMirrorFolder opens a folder below one that must exist: a disk that is not mounted
// must not be taken for an empty one.
func openMirrorFolder(dir, name string) (journal.Disk, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s must be a folder that exists; is its disk mounted?", dir))
	}
	folder, err := journal.OpenFolder(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return folder, nil
}

func (p *process) closeMirrors() {
	for _, m := range p.twice {
		if err := m.disk.Close(); err != nil {
			p.log.Error().Str("agent", string(m.agent)).Err(err).Msg("closing a mirror")
		}
	}
}

// mirrorState is that of the journal whose second copy is behind, or of any.
func (p *process) mirrorState() *web.Mirror {
	var out *web.Mirror
	for _, m := range p.twice {
		s := m.disk.State()
		if out != nil && (!out.Current || s.Current) {
			continue
		}
		out = &web.Mirror{Place: mirrorPlace(&p.cfg.Journal), Current: s.Current, Since: web.Instant(bourse.Time(s.Since.UnixMilli()))}
		if s.Err != nil {
			out.Why = s.Err.Error()
		}
	}
	return out
}
