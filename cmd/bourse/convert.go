package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bourse/sites/swf"
)

// newConvert builds "bourse convert".
func newConvert() *cobra.Command {
	var c convert
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Rewrite a workload trace, gzip by name",
		Long: `Reads a trace in the Standard Workload Format and writes it to another file,
compressed if the name ends in .gz. All fields of a record and all lines of
comment are kept, the comments in front. Lines that are no records are left out
and records that run backwards are sorted by submit, both said on stderr;
--strict refuses them instead. OUT is replaced once it is whole, never before.`,
		Example: "  bourse convert SDSC-SP2.swf.gz SDSC-SP2.swf\n  bourse convert --strict log.swf clean.swf.gz",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("convert wants two files, IN and OUT; %d are given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(args[0], args[1], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.strict, "strict", false, "refuse bad lines and records that run backwards")
	f.BoolVar(&c.json, "json", false, "print the counts as JSON")
	return cmd
}

type convert struct {
	strict, json bool
}

// converted is what convert prints.
type converted struct {
	Records   int `json:"records"`
	BadLines  int `json:"badLines"`
	Backwards int `json:"backwards"`
}

func (c *convert) run(in, out string, stdout, stderr io.Writer) error {
	if err := checkConversion(in, out); err != nil {
		return err
	}
	t, err := swf.Open(in, swf.Options{Strict: c.strict})
	if err != nil {
		return err
	}
	for _, line := range t.Remarks() {
		fmt.Fprintln(stderr, line)
	}
	if err := swf.WriteFile(out, t); err != nil {
		return failed(err)
	}
	done := converted{len(t.Records), t.BadCount, t.Backwards}
	if c.json {
		return failed(writeJSON(stdout, done))
	}
	_, err = fmt.Fprintf(stdout, "%s: %d records\n", out, done.Records)
	return failed(err)
}

// checkConversion refuses formats that are not read or written, and a file onto
// itself, whatever names it goes by.
func checkConversion(in, out string) error {
	for _, name := range []string{in, out} {
		if format(name) == "gwf" {
			return fmt.Errorf("%s: the Grid Workload Format is not supported yet; .swf and .swf.gz are", name)
		}
	}
	if format(out) != "swf" {
		return fmt.Errorf("%s: the name says no format; it must end in .swf or .swf.gz", out)
	}
	from, err := os.Stat(in)
	if err != nil {
		return err
	}
	to, err := os.Stat(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if os.SameFile(from, to) {
		return fmt.Errorf("%s and %s are one file; another name is wanted for OUT", in, out)
	}
	if !to.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a regular file", out)
	}
	return nil
}

// format is the format that a file name claims: its last extension but ".gz".
func format(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return name[strings.LastIndexByte(name, '.')+1:]
}
