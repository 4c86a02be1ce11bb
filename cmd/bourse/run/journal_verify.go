package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
)

// newJournalVerify builds "bourse journal verify".
func newJournalVerify() *cobra.Command {
	var v journalVerify
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Check journals against the format and the invariants",
		Long: `Checks every record of every file (length, number, checksum, and that it can be
read), and then what the facts say. One journal can show that legs follow the
state table, that decisions never change, and that money is posted once and at the
held price. Several together also show that all legs of a transaction carry its
decision.

Verify checks that no node is promised twice by the sizes that the groups had at the
time: journals record them. For one that an earlier build began, until a size is on
record, they come from the sites' process files in the folders, from a scenario or from
--nodes; if nothing says them, that is not checked, and is named. If sites of those files serve several VOs, brokers whose files are there too are called
VO/NAME. A scenario also tells what the groups offer; then windows are checked for
length, performance, machines and prices too. With the key of a site (--key), what
the site restored after losing its journal is checked against the proofs made with
that key.

A tail torn by a crash is not damage. A note is something that a journal alone
cannot decide. Exit status 1: an invariant is broken; 2: a file is damaged or
cannot be read; the error names the file and the byte.`,
		Example: "  bourse journal verify .bourse/site-north\n" +
			"  bourse journal verify .bourse/site-north .bourse/broker-vo1 \\\n      --nodes north/main=128 --json",
		Args: somePaths,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(args, cmd.OutOrStdout()) },
	}
	flags.AddFlag(cmd, &v.scenario, flags.AsFile, "scenario", "", "take the groups, and which brokers cap the price of a node, from this scenario")
	flags.AddList(cmd, &v.nodes, flags.AsSizeOf, "nodes", "nodes of a group: SITE/GROUP=N, or GROUP=N for all sites; may be repeated")
	flags.AddList(cmd, &v.keys, flags.AsKeyOf, "key", "key with which a site proves its answers: SITE=FILE; may be repeated")
	cmd.Flags().BoolVar(&v.json, "json", false, "print JSON")
	return cmd
}

// journalVerify holds the flags.
type journalVerify struct {
	scenario string
	nodes    []string
	keys     []string
	json     bool

	groups map[string]grid.Group // of the scenario, by SITE/GROUP
	capped map[string]bool       // brokers that cap the price of a node
}

// journalRow is the result for one journal.
type journalRow struct {
	Agent    agents.ID `json:"agent"`
	Path     string    `json:"path"`
	Segments int       `json:"segments"`
	Facts    uint64    `json:"facts"` // read
	First    grid.Time `json:"first"`
	Last     grid.Time `json:"last"`
	Torn     int       `json:"torn"`              // bytes
	Unsized  bool      `json:"unsized,omitempty"` // a site's or cluster's: how large its groups are is not known
}

func (v *journalVerify) run(paths []string, out io.Writer) error {
	nodes, err := v.sizes(paths)
	if err != nil {
		return err
	}
	sources, err := journalsOf(paths)
	if err != nil {
		return err
	}
	check := invariant.New(nodes)
	if v.groups != nil {
		check.Groups(func(site, group string) (grid.Group, bool) {
			g, ok := v.groups[site+"/"+group]
			return g, ok
		}, func(broker string) bool { return v.capped[broker] })
	}
	for _, s := range v.keys {
		site, file, ok := strings.Cut(s, "=")
		if !ok || site == "" {
			return fmt.Errorf("--key %q: must be SITE=FILE, such as north=site-north/site-north.proof", s)
		}
		key, err := certificate.ReadProofKey(file)
		if err != nil {
			return err
		}
		check.Know(site, key)
	}
	rows := make([]journalRow, 0, len(sources))
	for _, s := range sources {
		row, err := audit(s, check)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	found, more, counts := check.Finish()
	broken := 0
	for i := range found {
		if !found[i].Note {
			broken++
		}
	}
	if v.json {
		if found == nil {
			found = []invariant.Finding{}
		}
		err = flags.WriteJSON(out, struct {
			Journals []journalRow        `json:"journals"`
			Counts   invariant.Counts    `json:"counts"`
			Broken   int                 `json:"broken"`
			Findings []invariant.Finding `json:"findings"`
			More     int                 `json:"more,omitempty"`
		}{rows, counts, broken, found, more})
	} else {
		printVerified(out, rows, counts, broken, found, more)
	}
	if err == nil && broken > 0 {
		err = failure.Of(fmt.Errorf("invariants are broken, %s", grid.Count(broken, "time")))
	}
	return err
}

// audit reads the journal into an audit.
func audit(s input.Journal, check *invariant.Audit) (journalRow, error) {
	row := journalRow{Path: s.Path}
	by, err := sizesOf(s)
	if err != nil {
		return row, err
	}
	begun := false
	segments, err := s.Read(func(r journal.Record) error {
		if s.VO != "" {
			r.Fact = inVO(s.VO, r.Fact)
		}
		trail := check.Trail(s.As(r.Agent))
		if !begun && by != nil && invariant.SizesBy(r.Fact) == nil {
			trail.Began(by)
		}
		trail.Take(invariant.Place{File: r.File, Offset: r.Offset, Number: r.Number}, r.At, r.Fact)
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
		row.Agent, row.Torn = s.As(last.Agent), last.Torn
		row.Unsized = hasGroups(row.Agent) && !check.Trail(row.Agent).Sized()
	}
	return row, err
}

// hasGroups reports whether an agent is one whose journal says what nodes are promised.
func hasGroups(id agents.ID) bool {
	return strings.HasPrefix(string(id), "site:") || strings.HasPrefix(string(id), "cluster:")
}

// errEnough ends the reading of a journal of which enough is known.
var errEnough = errors.New("enough is known")

// sizesOf is the first fact of a journal that says how large groups are; nil: none does. As a
// rule it is the first one of all; the journal of an earlier build is read to its end.
func sizesOf(s input.Journal) (by agents.Fact, err error) {
	_, err = s.Read(func(r journal.Record) error {
		if invariant.SizesBy(r.Fact) != nil {
			by = r.Fact
		}
		if by != nil || !hasGroups(r.Agent) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return by, err
}

// journalsOf finds the journals under the paths in the order in which they are checked, with
// the VOs of their brokers.
func journalsOf(paths []string) ([]input.Journal, error) {
	list, err := input.Journals(paths)
	if err != nil {
		return nil, err
	}
	vos, err := voFolders(paths)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].VO = vos[filepath.Dir(filepath.Clean(list[i].Path))]
	}
	return input.InOrder(list)
}

// sizes returns the number of nodes of each known group, by SITE/GROUP: from the sites'
// files under the paths, overridden by the scenario, overridden by the flags.
func (v *journalVerify) sizes(paths []string) (map[string]int, error) {
	nodes := map[string]int{}
	for _, p := range paths {
		if err := siteSizes(p, nodes); err != nil {
			return nil, err
		}
	}
	if v.scenario != "" {
		sc, err := configs.ReadScenario(v.scenario)
		if err != nil {
			return nil, err
		}
		v.groups, v.capped = map[string]grid.Group{}, map[string]bool{}
		for i := range sc.Sites {
			for _, g := range sc.Sites[i].Groups {
				nodes[sc.Sites[i].Name+"/"+g.Name] = g.Nodes
				v.groups[sc.Sites[i].Name+"/"+g.Name] = g
			}
		}
		for i := range sc.Brokers {
			v.capped[sc.Brokers[i].Name] = sc.Brokers[i].Algorithm.CapsPrice()
		}
	}
	for _, s := range v.nodes {
		group, number, ok := strings.Cut(s, "=")
		n, err := strconv.Atoi(number)
		if !ok || group == "" || err != nil || n < 1 {
			return nil, fmt.Errorf("--nodes %q: must be SITE/GROUP=N or GROUP=N, such as north/main=128", s)
		}
		nodes[group] = n
	}
	return nodes, nil
}

// siteSizes adds the sizes of groups in the files of sites' processes in or below a
// folder.
func siteSizes(path string, nodes map[string]int) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".toml" {
			return err
		}
		kind, err := configs.Check(name)
		if err != nil || kind.Kind != kinds.SiteProcess {
			return nil // some other file
		}
		site, err := configs.ReadSiteProcess(name)
		if err != nil {
			return err
		}
		for _, g := range site.Groups {
			nodes[site.Name+"/"+g.Name] = g.Nodes
		}
		return nil
	})
}

func printVerified(out io.Writer, rows []journalRow, c invariant.Counts, broken int, found []invariant.Finding, more int) {
	w := report.NewTable("journal of", "files", "facts", "from", "to", "torn bytes")
	for _, r := range rows {
		w.AppendRow(table.Row{r.Agent, r.Segments, r.Facts, onClock(r.First), onClock(r.Last), r.Torn})
	}
	fmt.Fprintln(out, w.Render())
	fmt.Fprintln(out)
	for _, r := range rows {
		if r.Unsized {
			fmt.Fprintf(out, "%s: nothing says how large its groups are, so I1 is not checked; give --nodes SITE/GROUP=N\n", r.Agent)
		}
	}
	for i := range found {
		f := &found[i]
		word := f.Invariant
		if f.Note {
			word += " (note)"
		}
		fmt.Fprintf(out, "%s  %s, %s, fact %d at %s:\n    %s\n", word, f.Agent, f.File, f.Number, onClock(f.At), f.What)
		if f.Alike > 0 {
			fmt.Fprintf(out, "    and %s of this kind\n", grid.Count(f.Alike, "more note"))
		}
	}
	if more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
	verdict := "no invariant is broken"
	if broken > 0 {
		verdict = "an invariant is broken, " + grid.Count(broken, "time")
	}
	fmt.Fprintf(out, "%s, %s: %d committed, %d aborted; %s, %d in flight; %s\n", grid.Count(len(rows), "journal"),
		grid.Count(c.Transactions, "transaction"), c.Committed, c.Aborted, grid.Count(c.Legs, "leg"), c.InFlight, verdict)
}
