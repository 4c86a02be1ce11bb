package study

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
)

// newSweepMerge builds "bourse sweep merge".
func newSweepMerge() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "merge --out DIR PART...",
		Short: "Merge the parts of a sweep",
		Long: `Merge reads the folders of all parts of a sweep and writes the same files as a sweep
on one machine, byte for byte. A part that is there twice counts once. If a part is
missing, merge names it and writes nothing: exit status 1.`,
		Example: "  bourse sweep merge --out out part-*",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.merge(args, cmd.OutOrStdout())
		},
	}
	flags.AddFlag(cmd, &f.out, flags.AsFolder, "out", "", "folder for the files")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the means as JSON")
	return cmd
}

func (f *sweepFlags) merge(dirs []string, stdout io.Writer) error {
	if f.out == "" || len(dirs) == 0 {
		return errors.New("merge needs the folders of the parts, and --out DIR for the files")
	}
	var parts sweepParts
	for _, dir := range dirs {
		if err := parts.add(dir); err != nil {
			return err
		}
	}
	if lacks := parts.lacks(); lacks != "" {
		return failure.Of(fmt.Errorf("of the %d parts these are missing: %s; nothing was written", parts.of, lacks))
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return failure.Of(err)
	}
	parts.sheet.dir = f.out
	if err := parts.sheet.write(); err != nil {
		return failure.Of(err)
	}
	return f.tell(parts.sheet, stdout)
}
