package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
)

// journalSource is one journal to be read: a folder, or one file of it.
type journalSource struct {
	path   string
	file   bool
	broker bool   // of a broker; set by inOrder
	vo     string // of a broker: of several that the sites beside it serve
}

// as is the name of an agent among all of those that are checked together.
func (s journalSource) as(agent agents.ID) agents.ID {
	if role, name, _ := strings.Cut(string(agent), ":"); s.vo != "" {
		return agents.ID(role + ":" + grid.InVO(s.vo, name))
	}
	return agent
}

// journalSources finds the journals under the paths, in their order.
func journalSources(paths []string) ([]journalSource, error) {
	var list []journalSource
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			list = append(list, journalSource{path: p, file: true})
			continue
		}
		var found []string
		err = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(name, ".journal") && !slices.Contains(found, filepath.Dir(name)) {
				found = append(found, filepath.Dir(name))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no journal in this folder or below it", p)
		}
		for _, dir := range found {
			list = append(list, journalSource{path: dir})
		}
	}
	return list, nil
}

// inOrder puts brokers last. Then, while agents run, a site's journal is never ahead of
// what its brokers have recorded. It refuses two folders of one agent; of the replicas of
// a broker it takes one.
func inOrder(list []journalSource) ([]journalSource, error) {
	list, err := ofGroups(list)
	if err != nil {
		return nil, err
	}
	folders := map[agents.ID]string{}
	for i := range list {
		agent, err := list[i].owner()
		if err != nil {
			return nil, err
		}
		agent = list[i].as(agent)
		if other, twin := folders[agent]; twin && !list[i].file {
			return nil, fmt.Errorf("%s and %s are both journals of %s; check them one by one", other, list[i].path, agent)
		}
		if !list[i].file {
			folders[agent] = list[i].path
		}
		list[i].broker = strings.HasPrefix(string(journal.Within(agent)), "broker:")
	}
	slices.SortStableFunc(list, func(a, b journalSource) int {
		switch {
		case a.broker == b.broker:
			return 0
		case b.broker:
			return -1
		}
		return 1
	})
	return list, nil
}

// owner returns the agent whose journal it is, from the head of its first file.
func (s journalSource) owner() (agents.ID, error) {
	name := s.path
	if !s.file {
		files, err := filepath.Glob(filepath.Join(s.path, "*.journal"))
		if err != nil || len(files) == 0 {
			return "", fmt.Errorf("%s: no journal in this folder", s.path)
		}
		name = slices.Min(files)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h, err := journal.ReadHeader(name, f)
	return h.Agent, flags.OfKind(name, configs.KindJournal, err)
}

// read hands every record to visit.
func (s journalSource) read(visit func(journal.Record) error) ([]journal.Segment, error) {
	codec := journal.NewCodec()
	if s.file {
		data, err := os.ReadFile(s.path)
		if err != nil {
			return nil, err
		}
		seg, err := journal.ReadFile(s.path, data, codec, visit)
		return []journal.Segment{seg}, flags.OfKind(s.path, configs.KindJournal, err)
	}
	folder, err := journal.LookInto(s.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return journal.Read(folder, codec, visit)
}

// audit reads the journal into an audit.
func (s journalSource) audit(check *invariant.Audit) (journalRow, error) {
	row := journalRow{Path: s.path}
	begun := false
	segments, err := s.read(func(r journal.Record) error {
		if s.vo != "" {
			r.Fact = inVO(s.vo, r.Fact)
		}
		check.Trail(s.as(r.Agent)).Take(invariant.Place{File: r.File, Offset: r.Offset, Number: r.Number}, r.At, r.Fact)
		if !r.Image {
			row.Facts++
		}
		if !begun {
			begun, row.First = true, r.At
		}
		row.Last = r.At
		return nil
	})
	row.Segments = len(segments)
	if len(segments) > 0 {
		last := segments[len(segments)-1]
		row.Agent, row.Torn = s.as(last.Agent), last.Torn
	}
	return row, err
}
