package process

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// journals are the disks of a process's agents, which are closed after all else has ended.
type journals struct {
	passive
	p     *process
	disks []*journal.Folder
	twice []*mirrored // those with a second copy
	fence chan error  // receives an error when a second copy belongs to another process
}

// open opens the journal of an agent in a folder of its own.
func (j *journals) open(id agents.ID) (*journal.Folder, error) {
	folder, err := journal.OpenFolder(j.p.folder(id))
	if err != nil {
		return nil, err
	}
	j.disks = append(j.disks, folder)
	return folder, private(j.p.folder(id))
}

func (j *journals) end(context.Context) error {
	for _, m := range j.twice {
		if err := m.disk.Close(); err != nil {
			j.p.log.Error().Str("agent", string(m.agent)).Err(err).Msg("closing a mirror")
		}
	}
	for _, d := range j.disks {
		if err := d.Close(); err != nil {
			j.p.log.Error().Err(err).Msg("closing a journal")
		}
	}
	return nil
}

// folder is the folder of an agent's journal: "site-north" for site:north.
func (p *process) folder(id agents.ID) string {
	role, name, _ := strings.Cut(string(id), ":")
	return filepath.Join(p.cfg.Journal.Dir, role+"-"+url.PathEscape(name))
}

// add starts an agent with a journal in a folder of its own.
func (p *process) add(id agents.ID, a agents.Durable) error {
	folder, err := p.journals.open(id)
	if err != nil {
		return err
	}
	disk, err := p.mirror(id, folder)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return p.host.Add(id, a, disk, journal.Options{Keep: p.cfg.Journal.Keep})
}
