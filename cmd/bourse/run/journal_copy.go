package run

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/grid"
)

// newJournalCopy builds "bourse journal copy".
func newJournalCopy() *cobra.Command {
	var c journalCopy
	cmd := &cobra.Command{
		Use:   "copy SRC DST",
		Short: "Copy journals, even while their agents run",
		Long: `Copies the journal in folder SRC, or all journals below it, to folder DST with the
same layout. Agents may be running: each copy holds whole records only, and is the
journal as it was at some instant since the call. Damage is not copied. DST must
not hold a copy of the same journal yet.

A restart reads only the last segment of a journal. --last copies just that, which
saves space and loses history, but no state. docs/BACKUP.md says how to restore a
copy, and what an agent does that starts from an old one.`,
		Example: "  bourse journal copy .bourse backup/monday\n  bourse journal copy --last .bourse/site-north /mnt/backup/site-north",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("two folders are needed: a journal (or a folder with journals below it), and where to copy it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(args[0], args[1], cmd.OutOrStdout()) },
	}
	cmd.Flags().BoolVar(&c.last, "last", false, "only the last segment of each journal; enough for a restart")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

// journalCopy holds the flags.
type journalCopy struct {
	last bool
	json bool
}

// copiedJournal is the result for one copy.
type copiedJournal struct {
	Agent    agents.ID `json:"agent"`
	Path     string    `json:"path"` // of the copy
	Segments int       `json:"segments"`
	Facts    uint64    `json:"facts"` // of the journal's whole life, up to the copy
	Left     int       `json:"left"`  // bytes of a record that was being written
}

func (c *journalCopy) run(from, to string, out io.Writer) error {
	sources, err := input.Journals([]string{from})
	if err != nil {
		return err
	}
	list := make([]copiedJournal, 0, len(sources))
	for _, s := range sources {
		if s.File {
			return fmt.Errorf("%s is a file; must be the folder of a journal, or a folder with journals below it", from)
		}
		place, err := filepath.Rel(from, s.Path)
		if err != nil {
			return err
		}
		one, err := c.one(s.Path, filepath.Join(to, place))
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if c.json {
		return flags.WriteJSON(out, list)
	}
	for _, one := range list {
		fmt.Fprintf(out, "%s: %d facts in %s, to %s\n", one.Agent, one.Facts, grid.Count(one.Segments, "segment"), one.Path)
	}
	return nil
}

// one copies one journal.
func (c *journalCopy) one(from, to string) (one copiedJournal, err error) {
	source, err := journal.LookInto(from)
	if err != nil {
		return one, err
	}
	target, err := journal.OpenFolder(to)
	if err != nil {
		return one, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	copied, err := journal.Copy(source, target, c.last)
	if err != nil {
		return one, err
	}
	end := copied[len(copied)-1]
	return copiedJournal{end.Agent, to, len(copied), end.Records + end.Facts, end.Torn}, nil
}
