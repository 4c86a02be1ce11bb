package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bourse"
	"bourse/agents"
	"bourse/agents/journal"
)

// newJournalShow builds "bourse journal show".
func newJournalShow() *cobra.Command {
	var s journalShow
	cmd := &cobra.Command{
		Use:   "show PATH...",
		Short: "Print the records of a journal",
		Long: `Prints the records of journals, one a line: the number of the fact, the instant
in seconds, the kind and what it says. With --json every line is an object with
file, offset, number, at, kind, image (where it is one) and fact.`,
		Example: "  bourse journal show .bourse/site-north --kind leg-moved --leg vo1/1/4.0\n" +
			"  bourse journal show .bourse/broker-vo1 --last 20\n" +
			"  bourse journal show .bourse/broker-vo1 --json | jq 'select(.kind == \"tx-decided\").fact'",
		Args: somePaths,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(args, cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.kinds, "kind", nil, "only facts of this kind; may be repeated")
	f.StringVar(&s.mention, "leg", "", "only facts of a transaction, BROKER/LIFE/SEQUENCE, or of a leg of it, with .LEG")
	f.IntVar(&s.last, "last", 0, "only the last N of what is left, of each journal (0: all)")
	f.BoolVar(&s.json, "json", false, "print JSON, one object a line")
	return cmd
}

// journalShow holds the flags.
type journalShow struct {
	kinds   []string
	mention string
	last    int
	json    bool

	headed bool // the present journal has its title
}

// shownRecord is a line of --json.
type shownRecord struct {
	File   string      `json:"file"`
	Offset int64       `json:"offset"`
	Number uint64      `json:"number"`
	At     bourse.Time `json:"at"`
	Kind   string      `json:"kind"`
	Image  bool        `json:"image,omitempty"`
	Fact   agents.Fact `json:"fact"`
}

func (s *journalShow) run(paths []string, out io.Writer) error {
	known := map[string]bool{}
	for _, f := range bourse.Facts() {
		known[f.Kind()] = true
	}
	for _, k := range s.kinds {
		if !known[k] {
			return fmt.Errorf("--kind %q: there is no such fact; there is %s", k, strings.Join(sortedNames(known), ", "))
		}
	}
	if s.last < 0 {
		return fmt.Errorf("--last %d: must not be negative", s.last)
	}
	sources, err := journalSources(paths)
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
func (s *journalShow) journal(source journalSource, w *bufio.Writer) error {
	s.headed = false
	var kept []journal.Record // the last ones, oldest at next
	next := 0
	segments, err := source.read(func(r journal.Record) error {
		if !s.wanted(r.Fact) {
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
			fmt.Fprintf(w, "and %d bytes of a record that is not whole\n", torn)
		}
	}
	return err
}

// wanted applies the filters.
func (s *journalShow) wanted(f agents.Fact) bool {
	if len(s.kinds) > 0 && !slices.Contains(s.kinds, f.Kind()) {
		return false
	}
	if s.mention == "" {
		return true
	}
	tx, leg := identity(f)
	return tx == s.mention || leg == s.mention
}

// identity is the transaction and the leg that a fact is of, as they are shown.
func identity(f agents.Fact) (tx, leg string) {
	of := func(l bourse.LegID) (string, string) { return l.Tx.String(), l.String() }
	switch f := f.(type) {
	case bourse.LegMoved:
		return of(f.Leg)
	case bourse.LegRestored:
		return of(f.Was.Leg)
	case bourse.Tombstone:
		return of(f.Leg)
	case bourse.NoticeNoted:
		return of(f.Leg)
	case bourse.NodesLocked:
		return of(f.Leg)
	case bourse.NodesFreed:
		return of(f.Leg)
	case bourse.LockMoved:
		return of(f.Leg)
	case bourse.TxBegun:
		return f.Tx.String(), ""
	case bourse.LegPriced:
		return of(f.Leg)
	case bourse.LegProved:
		return of(f.Leg)
	case bourse.TxDecided:
		return f.Tx.String(), ""
	case bourse.LegClosed:
		return of(f.Leg)
	case bourse.LegDone:
		return of(f.Leg)
	case bourse.LegAdopted:
		return of(f.Leg)
	case bourse.ClaimSettled:
		return of(f.Leg)
	case bourse.TxReversed:
		return f.Tx.String(), ""
	}
	return "", ""
}

// print writes one record.
func (s *journalShow) print(w *bufio.Writer, r *journal.Record) error {
	if !s.json {
		if !s.headed {
			s.headed = true
			fmt.Fprintf(w, "%s\n%9s %14s  %-18s what\n", r.Agent, "number", "at", "kind")
		}
		_, err := fmt.Fprintf(w, "%9d %14v  %-18s %s\n", r.Number, r.At, r.Fact.Kind(), words(r.Fact))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(shownRecord{r.File, r.Offset, r.Number, r.At, r.Fact.Kind(), r.Image, r.Fact})
}

// words says what a fact says, in a line.
func words(f agents.Fact) string {
	switch f := f.(type) {
	case bourse.LegMoved:
		s := fmt.Sprintf("%v %v: job %s, %s of %s over [%v, %v) at %v", f.Leg, f.State, f.Job, nodeCount(f.What.Nodes), f.What.Group, f.What.Start, f.What.End, f.Fare.Total())
		if f.Reason.Refused() {
			s += ": " + f.Reason.String()
		}
		return s
	case bourse.TxBegun:
		return fmt.Sprintf("%v: job %s, alternative %d at %s", f.Tx, f.Job, f.Alternative, strings.Join(f.Sites, ", "))
	case bourse.LegPriced:
		return fmt.Sprintf("%v at %v", f.Leg, f.Fare.Total())
	case bourse.TxDecided:
		if f.Commit {
			return fmt.Sprintf("%v COMMIT: job %s", f.Tx, f.Job)
		}
		return fmt.Sprintf("%v ABORT: job %s: %v", f.Tx, f.Job, f.Reason)
	case bourse.LegClosed:
		if f.Commit {
			return fmt.Sprintf("%v confirmed, %v posted", f.Leg, f.Posted)
		}
		return fmt.Sprintf("%v closed, nothing posted", f.Leg)
	case bourse.LegDone:
		return fmt.Sprintf("%v ended at %v, %v given back", f.Leg, f.End, f.Refund)
	case bourse.JobSubmitted:
		return fmt.Sprintf("job %s of %q: %s for %s, budget %v", f.Job.Name, f.Job.User, nodeCount(f.Job.Nodes), f.Job.Length.Words(), f.Job.Budget)
	case bourse.ClaimSettled:
		return fmt.Sprintf("%v, given up with its site, is %v there and costs %v", f.Leg, f.State, f.Cost)
	case bourse.SiteLost:
		return fmt.Sprintf("%v", f.Reason)
	case bourse.SiteBack:
		return f.Site + " is used again once it has listed its legs"
	case bourse.TxReversed:
		return fmt.Sprintf("%v ABORT after all: job %s: %v", f.Tx, f.Job, f.Reason)
	case bourse.LegAdopted:
		return fmt.Sprintf("%v at %s, %v: job %s, not on record", f.Leg, f.Site, f.State, f.Job)
	case bourse.LifeBegun:
		return fmt.Sprintf("life %d begins", f.Incarnation)
	case bourse.CycleSeen:
		return fmt.Sprintf("cycle %d: %s before %s", f.Cycle, plural(len(f.Jobs), "job", "jobs"), plural(len(f.Sites), "site", "sites"))
	case bourse.CyclePlanned:
		return fmt.Sprintf("cycle %d: windows chosen for %s", f.Cycle, plural(len(f.Chosen), "job", "jobs"))
	case bourse.BrokerImage:
		return fmt.Sprintf("image%s: %s, %s, %s", partOf(f.Part, f.Parts), plural(len(f.Jobs), "job", "jobs"), plural(len(f.Txs), "transaction", "transactions"), plural(len(f.Accounts), "account", "accounts"))
	case bourse.SiteImage:
		return fmt.Sprintf("image%s: %s, %s", partOf(f.Part, f.Parts), plural(len(f.Legs), "leg", "legs"), plural(len(f.Accounts), "account", "accounts"))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return err.Error()
	}
	text := strings.TrimSuffix(b.String(), "\n")
	const most = 300 // the rest is in --json
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// partOf says which part of an image it is, nothing of one in a single part.
func partOf(part, parts int) string {
	if parts <= 1 {
		return ""
	}
	return fmt.Sprintf(" %d of %d", part+1, parts)
}
