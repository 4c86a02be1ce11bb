package process

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/mirror"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// MirrorWait is how long an answer waits for the second copy at most.
const MirrorWait = 10 * time.Second

// mirrored is the journal of an agent, kept twice.
type mirrored struct {
	agent agents.ID
	disk  *journal.Mirror
}

// mirror adds a second copy to the journal of an agent, if the process's file asks for it.
func (p *process) mirror(id agents.ID, main *journal.Folder) (journal.Disk, error) {
	place := MirrorPlace(&p.cfg.Journal)
	if place == "" {
		return main, nil
	}
	open, err := p.mirrorOpener(id)
	if err != nil {
		return nil, err
	}
	log := p.log.With().Str("agent", string(id)).Str("mirror", place).Logger()
	m, err := journal.OpenMirror(main, journal.MirrorOptions{Open: open, Required: p.cfg.Journal.MirrorRequired, Wait: MirrorWait,
		Tell: func(s journal.MirrorState) {
			switch {
			case errors.Is(s.Err, journal.ErrFenced):
				select {
				case p.journals.fence <- fmt.Errorf("%s: %w", id, s.Err):
				default: // already reported
				}
			case !s.Current:
				log.Error().Err(s.Err).Msg("the journal has one copy: its mirror is behind")
			case s.Took > 0 && s.Failures == 0:
				log.Warn().Uint64("facts", s.Took).Msg("the mirror had records that the journal here lacked and that no peer had seen: copied from the mirror")
			case s.Differed > 0 && s.Failures == 0:
				log.Warn().Int("segments", s.Differed).Msg("the mirror had different records from the journal here and was rewritten from it; if this happens again, suspect one of the two disks")
			default:
				log.Info().Msg("the journal is kept twice")
			}
		}})
	if err != nil {
		return nil, err
	}
	p.journals.twice = append(p.journals.twice, &mirrored{id, m})
	return m, nil
}

// MirrorPlace is where second copies are kept; "": nowhere.
func MirrorPlace(j *configs.Journal) string { return cmp.Or(j.MirrorHost, j.MirrorDir) }

// mirrorOpener returns a function that opens the second copy of an agent's journal.
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
		return DialMirror(j.MirrorHost, store, name, claim)
	}, nil
}

// DialMirror opens a mirror on a host. With an error it returns a nil interface.
func DialMirror(host string, store *certificate.Store, name, claim string) (journal.Disk, error) {
	d, err := mirror.Open(host, store, MirrorWait, name, claim)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// openMirrorFolder opens a folder inside dir. It does not create dir, so that an unmounted
// disk is not taken for an empty one.
func openMirrorFolder(dir, name string) (journal.Disk, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s: must be an existing folder; is its disk mounted?", dir))
	}
	folder, err := journal.OpenFolder(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return folder, nil
}

// mirrorState returns the state of a mirror: of one that is behind, if there is one.
func (p *process) mirrorState() *api.Mirror {
	var out *api.Mirror
	for _, m := range p.journals.twice {
		s := m.disk.State()
		if out != nil && (!out.Current || s.Current) {
			continue
		}
		out = &api.Mirror{Place: MirrorPlace(&p.cfg.Journal), Current: s.Current, Since: api.Instant(grid.Time(s.Since.UnixMilli()))}
		if s.Err != nil {
			out.Why = s.Err.Error()
		}
	}
	return out
}
