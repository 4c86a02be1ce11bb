package input

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
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// Journal is one journal to be read: a folder, or one file of it.
type Journal struct {
	Path   string
	File   bool
	broker bool   // of a broker; set by InOrder
	VO     string // of a broker: of several that the sites beside it serve
}

// As is the name of an agent among all of those that are checked together.
func (s Journal) As(agent agents.ID) agents.ID {
	if role, name, _ := strings.Cut(string(agent), ":"); s.VO != "" {
		return agents.ID(role + ":" + grid.InVO(s.VO, name))
	}
	return agent
}

// Journals finds the journals under the paths, in their order.
func Journals(paths []string) ([]Journal, error) {
	var list []Journal
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			list = append(list, Journal{Path: p, File: true})
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
			list = append(list, Journal{Path: dir})
		}
	}
	return list, nil
}

// InOrder puts brokers last. Then, while agents run, a site's journal is never ahead of
// what its brokers have recorded. It refuses two folders of one agent; of the replicas of
// a broker it takes one.
func InOrder(list []Journal) ([]Journal, error) {
	list, err := OfGroups(list)
	if err != nil {
		return nil, err
	}
	folders := map[agents.ID]string{}
	for i := range list {
		agent, err := list[i].Owner()
		if err != nil {
			return nil, err
		}
		agent = list[i].As(agent)
		if other, twin := folders[agent]; twin && !list[i].File {
			return nil, fmt.Errorf("%s and %s are both journals of %s; check them one by one", other, list[i].Path, agent)
		}
		if !list[i].File {
			folders[agent] = list[i].Path
		}
		list[i].broker = strings.HasPrefix(string(journal.Within(agent)), "broker:")
	}
	slices.SortStableFunc(list, func(a, b Journal) int {
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

// Owner returns the agent whose journal it is, from the head of its first file.
func (s Journal) Owner() (agents.ID, error) {
	name := s.Path
	if !s.File {
		files, err := fs.Glob(os.DirFS(s.Path), "*.journal")
		if err != nil || len(files) == 0 {
			return "", fmt.Errorf("%s: no journal in this folder", s.Path)
		}
		name = filepath.Join(s.Path, slices.Min(files))
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h, err := journal.ReadHeader(name, f)
	return h.Agent, flags.OfKind(name, kinds.Journal, err)
}

// Read hands every record to visit.
func (s Journal) Read(visit func(journal.Record) error) ([]journal.Segment, error) {
	codec := journal.NewCodec()
	if s.File {
		data, err := os.ReadFile(s.Path)
		if err != nil {
			return nil, err
		}
		seg, err := journal.ReadFile(s.Path, data, codec, visit)
		return []journal.Segment{seg}, flags.OfKind(s.Path, kinds.Journal, err)
	}
	folder, err := journal.LookInto(s.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return journal.Read(folder, codec, visit)
}
