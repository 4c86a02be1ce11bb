package run

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/failure"
)

// newJournalRebase builds "bourse journal rebase".
func newJournalRebase() *cobra.Command {
	r := journalRebase{now: process.WallClock}
	cmd := &cobra.Command{
		Use:   "rebase PATH...",
		Short: "Repair records that a fast clock dated in the future",
		Long: `A process whose clock was ahead leaves records dated in the future, and after a
restart it waits until that time has come. This command lists those records and,
with --apply, dates them back: for a site and its cluster, to the last time at which
the journal shows that their clock was right; for a broker, to now; or to the time
given by --to. PATH is the folder of a journal or a folder of such folders. Stop the
processes first.

Only the time of a record changes, not what it says: what an agent did by that
clock is done. Legs that a site started or ended before their time are listed. They
stay as they are; journal verify reports them, and their brokers refund them and
look for other nodes.

Each file is rewritten beside the old one and then replaces it; the old one is kept
as FILE.before-rebase-TIME. Exit status 1: a journal is in use; 2: a file is damaged
or cannot be read.`,
		Example: "  bourse journal rebase .bourse                # show the changes\n  bourse journal rebase .bourse --apply",
		Args:    somePaths,
		RunE:    func(cmd *cobra.Command, args []string) error { return r.run(args, cmd.OutOrStdout()) },
	}
	flags.AddFlag(cmd, &r.to, flags.AsStamp, "to", "", "date later records back to this time, RFC 3339 or seconds since 1970")
	cmd.Flags().BoolVar(&r.apply, "apply", false, "make the changes (default: only show them)")
	cmd.Flags().BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}

// journalRebase holds the flags.
type journalRebase struct {
	to    string
	apply bool
	json  bool
	now   func() time.Time
}

// rebasedJournal is the result for one journal.
type rebasedJournal struct {
	Agent   agents.ID  `json:"agent"`
	Path    string     `json:"path"`
	To      grid.Time  `json:"to"`
	Latest  grid.Time  `json:"latest"` // latest time of a record before the change
	First   uint64     `json:"first,omitempty"`
	Records int        `json:"records"` // dated back
	Files   []string   `json:"files,omitempty"`
	Torn    int        `json:"torn,omitempty"`
	Early   []earlyLeg `json:"early,omitempty"`
}

// earlyLeg is a leg that a site started or settled before its window began.
type earlyLeg struct {
	Leg   grid.LegID    `json:"leg"`
	Job   string        `json:"job"`
	What  grid.Leg      `json:"what"`
	State grid.LegState `json:"state"`
	At    grid.Time     `json:"at"` // at the earliest, by the records brought back
}

func (r *journalRebase) run(paths []string, out io.Writer) error {
	now := grid.Time(r.now().UnixMilli())
	to := grid.Never
	if r.to != "" {
		var err error
		if to, err = readStamp(r.to); err != nil {
			return err
		}
	}
	sources, err := input.Journals(paths)
	if err != nil {
		return err
	}
	ending := ".before-rebase-" + r.now().UTC().Format("20060102T150405.000Z")
	var list []rebasedJournal
	for _, s := range sources {
		if s.File {
			return fmt.Errorf("%s is a file; must be the folder of a journal, or a folder with journals below it", s.Path)
		}
		one, err := r.one(s, now, to, ending)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if r.json {
		return flags.WriteJSON(out, struct {
			Applied  bool             `json:"applied"`
			Journals []rebasedJournal `json:"journals"`
		}{r.apply, list})
	}
	changes := 0
	for i := range list {
		list[i].print(out)
		changes += list[i].Records
	}
	switch {
	case changes == 0:
		fmt.Fprintln(out, "no record is later than that; nothing to change")
	case r.apply:
		fmt.Fprintf(out, "done; the old files are beside the new ones, with the ending %s\n", ending)
	default:
		fmt.Fprintln(out, "nothing was changed; --apply makes the changes")
	}
	return nil
}

// one rebases one journal, or says what that would change.
func (r *journalRebase) one(s input.Journal, now, to grid.Time, ending string) (one rebasedJournal, err error) {
	open := journal.LookInto
	if r.apply {
		open = journal.OpenFolder
	}
	disk, err := open(s.Path)
	if err != nil {
		return one, failure.Of(fmt.Errorf("%w; stop the process first", err))
	}
	defer func() { err = errors.Join(err, disk.Close()) }()
	owner, err := s.Owner()
	if err != nil {
		return one, err
	}
	if journal.Within(owner) != owner {
		return one, fmt.Errorf("%s is the journal of %s, whose entries other replicas have too; it cannot be rebased alone", s.Path, owner)
	}
	if to == grid.Never {
		to = now
		if !strings.HasPrefix(string(owner), "broker:") {
			if to, err = journal.Before(disk, now); err != nil {
				return one, err
			}
		}
	}
	early := map[grid.LegID]int{}
	done, err := journal.Rebase(disk, to, ending, r.apply, func(x journal.Record) error {
		f, ok := x.Fact.(facts.LegMoved)
		if !ok || f.State != grid.Running && f.State != grid.Settled || !f.Flex.Early(f.What, x.At) {
			return nil
		}
		e := earlyLeg{f.Leg, f.Job, f.What, f.State, x.At}
		if i, known := early[f.Leg]; known {
			one.Early[i] = e
			return nil
		}
		early[f.Leg] = len(one.Early)
		one.Early = append(one.Early, e)
		return nil
	})
	one.Agent, one.Path, one.To, one.Latest = done.Agent, s.Path, done.To, done.Latest
	one.First, one.Records, one.Files, one.Torn = done.First, done.Records, done.Files, done.Torn
	return one, err
}

// print says what a rebase changes in a journal, and what it leaves as it is.
func (j *rebasedJournal) print(out io.Writer) {
	if j.Records == 0 {
		fmt.Fprintf(out, "%s, %s: the last record is of %s, none is later than %s\n", j.Agent, j.Path, clockTime(j.Latest), clockTime(j.To))
	} else {
		ahead := (time.Duration(j.Latest.Sub(j.To)) * time.Millisecond).Round(time.Second)
		fmt.Fprintf(out, "%s, %s: %s from number %d on, the latest of %s, %v ahead: dated back to %s, in %s\n", j.Agent, j.Path,
			grid.Count(j.Records, "record"), j.First, clockTime(j.Latest), ahead, clockTime(j.To), grid.Count(len(j.Files), "file"))
	}
	for _, e := range j.Early {
		fmt.Fprintf(out, "    leg %v of job %s, %s from %s on, is %v since %s, before its window began; it stays so\n", e.Leg, e.Job,
			grid.Count(e.What.Nodes, "node"), clockTime(e.What.Start), e.State, clockTime(e.At))
	}
}

// clockTime shows an instant in UTC.
func clockTime(t grid.Time) string {
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// readStamp reads an instant: RFC 3339, or seconds since 1970 as in journals.
func readStamp(text string) (grid.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return grid.Time(at.UnixMilli()), nil
	}
	at, err := grid.ParseTime(text)
	if err != nil {
		return 0, fmt.Errorf("--to %q: must be an instant, such as 2026-05-01T09:00:00Z, or seconds since 1970", text)
	}
	return at, nil
}
