package examine

import (
	"fmt"
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/report"
)

// newGather builds "bourse gather".
func newGather() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gather CASES.json",
		Short: "Play how pilots are gathered in scripted worlds, act by act",
		Long: `Gather plays the rules by which pilots are gathered at clusters that grant no
reservations: jobs that hold nodes and idle until those of all clusters run, so that
the parts of one job begin together. Nothing is submitted anywhere.

CASES.json ("-": standard input) is a list of worlds: "name", "length" and "deadline" in
seconds, "waste" (the share of the work that may be idled, such as "0.05"), and "parts".
A part has "nodes", "cluster" (the nodes of its cluster), "begins" (how many seconds
after its submission the k-th pilot begins, -1: never) and "fits" (pairs of seconds
between which it would start at once). "place": true if every cluster keeps a job's place
in line while its begin is far.

An act has its second "t", "do" (submit, grant, release, cancel, commit, give-up, place,
begin), "part" (from 0; -1: all) and, if it has one, "value": a limit in seconds, a grant in
seconds from the pilot's begin, node-seconds idled, or the start. The answer of --json can
be read again: what is not of the world is left out.`,
		Example: "  bourse gather cases.json\n  bourse gather cases.json --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("gather takes one file, CASES.json; %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := readCases(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			for i := range list {
				list[i] = list[i].Play()
			}
			if asJSON {
				return flags.WriteJSON(cmd.OutOrStdout(), list)
			}
			writeCases(cmd.OutOrStdout(), list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the worlds with all acts as JSON")
	return cmd
}

// mostCasesText bounds a file of worlds, in bytes.
const mostCasesText = 64 << 20

// readCases reads a file of worlds, "-" from standard input.
func readCases(name string, in io.Reader) ([]gather.Case, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, mostCasesText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostCasesText {
		return nil, fmt.Errorf("%s: larger than %d MiB; split it", name, mostCasesText>>20)
	}
	list, err := gather.ReadCases(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// writeCases prints a row for each world.
func writeCases(w io.Writer, list []gather.Case) {
	t := report.NewTable("<world", "<outcome", "start", "tries", "idled", "allowed")
	for _, c := range list {
		start := "-"
		if c.Start != nil {
			start = fmt.Sprint(*c.Start)
		}
		t.AppendRow(table.Row{c.Name, c.Outcome, start, c.Tries, c.Spent, c.Allow})
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprintln(w, "Start in seconds; idled and allowed in node-seconds.")
}
