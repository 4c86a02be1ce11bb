package run

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// newJournalShow builds "bourse journal show".
func newJournalShow() *cobra.Command {
	var s journalShow
	cmd := &cobra.Command{
		Use:   "show PATH...",
		Short: "Print the records of a journal",
		Long: `Prints the records of journals, one per line: the number of the fact, the time, the
kind and what it says. With --json every line is an object with file, offset,
number, at (in Unix seconds), kind, image (if it is one) and fact.`,
		Example: "  bourse journal show .bourse/site-north --kind leg-moved --leg vo1/1/4.0\n" +
			"  bourse journal show .bourse/broker-vo1 --last 20\n" +
			"  bourse journal show .bourse/broker-vo1 --json \\\n      | jq 'select(.kind == \"tx-decided\").fact'",
		Args: somePaths,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(args, cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	flags.AddList(cmd, &s.kinds, flags.AsFactKind, "kind", "only facts of this kind; may be repeated")
	flags.AddFlag(cmd, &s.mention, flags.AsName, "leg", "", "only facts of a transaction, BROKER/LIFE/SEQUENCE, or with .LEG of one leg of it")
	flags.AddFlag(cmd, &s.last, flags.AsNumber, "last", 0, "only the last N matching records of each journal (0: all)")
	f.BoolVar(&s.json, "json", false, "print JSON, one object per line")
	return cmd
}

// journalShow holds the flags.
type journalShow struct {
	kinds   []string
	mention string
	last    int
	json    bool

	headed bool // the title of the current journal is printed
}

// shownRecord is a line of --json.
type shownRecord struct {
	File   string      `json:"file"`
	Offset int64       `json:"offset"`
	Number uint64      `json:"number"`
	At     grid.Time   `json:"at"`
	Kind   string      `json:"kind"`
	Image  bool        `json:"image,omitempty"`
	Fact   agents.Fact `json:"fact"`
}

func (s *journalShow) run(paths []string, out io.Writer) error {
	known := map[string]bool{}
	for _, f := range facts.Facts() {
		known[f.Kind()] = true
	}
	for _, k := range s.kinds {
		if !known[k] {
			return fmt.Errorf("--kind %q: unknown; must be one of %s", k, strings.Join(sortedNames(known), ", "))
		}
	}
	if s.last < 0 {
		return fmt.Errorf("--last %d: must not be negative", s.last)
	}
	sources, err := input.Journals(paths)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<16)
	for _, source := range sources {
		if err := s.journal(source, w); err != nil {
			_ = w.Flush() // what could be read is worth seeing
			return err
		}
	}
	return w.Flush()
}

func sortedNames(m map[string]bool) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// journal prints one journal.
func (s *journalShow) journal(source input.Journal, w *bufio.Writer) error {
	s.headed = false
	var kept []journal.Record // the last ones, oldest at next
	next := 0
	segments, err := source.Read(func(r journal.Record) error {
		if !s.matches(r.Fact) {
			return nil
		}
		switch {
		case s.last == 0:
			return s.print(w, &r)
		case len(kept) < s.last:
			kept = append(kept, r)
		default:
			kept[next] = r
			next = (next + 1) % s.last
		}
		return nil
	})
	for i := range kept {
		if e := s.print(w, &kept[(next+i)%len(kept)]); e != nil {
			return e
		}
	}
	if err == nil && !s.json && len(segments) > 0 {
		if torn := segments[len(segments)-1].Torn; torn > 0 {
			fmt.Fprintf(w, "and %d bytes of an incomplete record\n", torn)
		}
	}
	return err
}

// matches applies the filters.
func (s *journalShow) matches(f agents.Fact) bool {
	if len(s.kinds) > 0 && !slices.Contains(s.kinds, f.Kind()) {
		return false
	}
	if s.mention == "" {
		return true
	}
	about := facts.About(f)
	return about.OfTx() && about.Tx.String() == s.mention || about.OfLeg() && about.Leg.String() == s.mention
}

// print writes one record.
func (s *journalShow) print(w *bufio.Writer, r *journal.Record) error {
	if !s.json {
		if !s.headed {
			s.headed = true
			fmt.Fprintf(w, "%s\n%9s %24s  %-18s what\n", r.Agent, "number", "at", "kind")
		}
		_, err := fmt.Fprintf(w, "%9d %24s  %-18s %s\n", r.Number, exactOnClock(r.At), r.Fact.Kind(), history.Line(r.Fact).In(exactOnClock))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(shownRecord{r.File, r.Offset, r.Number, r.At, r.Fact.Kind(), r.Image, r.Fact})
}

// onClock shows an instant of a journal: of a process in UTC, of virtual time, which
// begins at 0, in seconds.
func onClock(t grid.Time) string { return inUTC(t, "2006-01-02 15:04:05Z") }

// exactOnClock is onClock with milliseconds.
func exactOnClock(t grid.Time) string { return inUTC(t, "2006-01-02 15:04:05.000Z") }

func inUTC(t grid.Time, layout string) string {
	const dated = 365 * grid.Day // since 1970: no process ran then
	if t < grid.Time(dated) || t == grid.Never {
		return t.String()
	}
	return time.UnixMilli(int64(t)).UTC().Format(layout)
}
