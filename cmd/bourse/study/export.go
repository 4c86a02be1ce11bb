package study

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/report/columnar"
	"github.com/bourse-grid/bourse/report/export"
	"github.com/bourse-grid/bourse/workload/files"
)

// newExport builds "bourse export".
func newExport() *cobra.Command {
	var x exporting
	cmd := &cobra.Command{
		Use:   "export PATH... --to FORMAT",
		Short: "Write a run in the format of another program",
		Long: `Export reads the folder of a run (from simulate --out) or the journals of sites and
brokers, and writes what ran when and where:

  evalys     a CSV file with the columns of evalys' JobSet: a row for each
             local job and each leg of a VO's job that has begun, ordered by
             end
  perfetto   JSON in the Trace Event Format, for Perfetto or Chrome: sites as
             processes, groups as threads, jobs and legs as slices, arrows
             between the legs of a window, nodes in use and prices as counters
  parquet-jobs, parquet-events
             jobs.csv or events.jsonl of a run's folder as Apache Parquet: the
             columns of jobs.csv with numbers as numbers, or agent, at, fact
             and kind, where fact is the line

The nodes of a group are alike, so the export itself chooses which of them a job
has; each node has one job at a time. A journal does not say how many nodes a group
has: the export takes the most that were in use at once. Work that began before the
journal, or before the image at its start, is left out.`,
		Example: "  bourse export out --to evalys --out jobs.csv\n  bourse export out --to perfetto --out trace.json\n" +
			"  bourse export .bourse --to perfetto --out federation.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("export needs the folder of a run, or journals")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(args, cmd.OutOrStdout()) },
	}
	flags.AddFlag(cmd, &x.to, flags.OneOf("format", "evalys", "perfetto", "parquet-jobs", "parquet-events"), "to", "", "evalys, perfetto, parquet-jobs or parquet-events")
	flags.AddFlag(cmd, &x.out, flags.AsFile, "out", "", "file to write (default: standard output)")
	return cmd
}

type exporting struct{ to, out string }

// exporters make an export in a format, by its name.
var exporters = map[string]export.Format{"evalys": export.Evalys, "perfetto": export.Trace}

// columns are the files of a run's folder that are written as Parquet, by the name of the format.
var columns = map[string]struct {
	file  string
	write func(io.Writer, io.Reader) error
}{"parquet-jobs": {report.JobsFile, columnar.Jobs}, "parquet-events": {report.EventsFile, columnar.Events}}

// asColumns writes a file of a run's folder as Parquet.
func (x *exporting) asColumns(dir string) func(io.Writer) error {
	return func(w io.Writer) error {
		of := columns[x.to]
		in, err := os.Open(filepath.Join(dir, of.file))
		if err != nil {
			return err
		}
		defer in.Close()
		if err := of.write(w, in); err != nil {
			return fmt.Errorf("%s: %w", in.Name(), err)
		}
		return nil
	}
}

func (x *exporting) run(paths []string, stdout io.Writer) error {
	write, err := x.source(paths)
	if err != nil {
		return err
	}
	if x.to == "" {
		return errors.New("--to is missing: the format, evalys, perfetto, parquet-jobs or parquet-events")
	}
	if x.out == "" {
		return write(stdout)
	}
	return files.Replace(x.out, write)
}

// source finds out what the paths are: a run, or journals.
func (x *exporting) source(paths []string) (write func(io.Writer) error, err error) {
	runs := 0
	for _, p := range paths {
		if _, err := os.Stat(filepath.Join(p, report.SummaryFile)); err == nil {
			runs++
		}
	}
	_, parquet := columns[x.to]
	switch {
	case parquet && (runs != 1 || len(paths) != 1):
		return nil, fmt.Errorf("--to %s takes the folder of one run, as \"bourse simulate --out\" writes it; journals have no %s", x.to, columns[x.to].file)
	case parquet:
		return x.asColumns(paths[0]), nil
	case runs == 1 && len(paths) == 1:
		return func(w io.Writer) error {
			return export.Run(paths[0], w, exporters[x.to])
		}, nil
	case runs > 0:
		return nil, errors.New("export takes one run, or journals; export several runs one by one")
	}
	sources, err := input.Journals(paths)
	if err != nil {
		return nil, fmt.Errorf("%w; PATH must be the folder of a run, as \"bourse simulate --out\" writes it, or of journals", err)
	}
	if sources, err = input.InOrder(sources); err != nil {
		return nil, err
	}
	return func(w io.Writer) error { return x.journals(sources, w) }, nil
}

// journals exports journals. A first pass finds the nodes of their sites.
func (x *exporting) journals(sources []input.Journal, w io.Writer) error {
	sources, err := input.OfGroups(sources)
	if err != nil {
		return err
	}
	var own []report.Site
	for _, s := range sources {
		owner, err := s.Owner()
		if err != nil {
			return err
		}
		if name, ok := strings.CutPrefix(string(owner), "site:"); ok {
			own = append(own, report.Site{Name: name})
		}
	}
	first := exporters[x.to](io.Discard, own, nil)
	if err := feedJournals(sources, first); err != nil {
		return err
	}
	own, told := first.Sites()
	return feedJournals(sources, exporters[x.to](w, own, told))
}

// feedJournals hands the records of several journals to an export, in order of time.
func feedJournals(sources []input.Journal, e *export.File) error {
	type head struct {
		record journal.Record
		next   func() (journal.Record, bool)
	}
	var heads []*head
	var failure error
	for _, s := range sources {
		next, stop := iter.Pull(func(yield func(journal.Record) bool) {
			_, err := s.Read(func(r journal.Record) error {
				if !yield(r) {
					return errStopped
				}
				return nil
			})
			if err != nil && !errors.Is(err, errStopped) && failure == nil {
				failure = err
			}
		})
		defer stop()
		if r, ok := next(); ok {
			heads = append(heads, &head{r, next})
		}
	}
	for failure == nil && len(heads) > 0 {
		least := 0
		for i, h := range heads {
			if h.record.At < heads[least].record.At {
				least = i
			}
		}
		h := heads[least]
		if err := e.Add(h.record.At, h.record.Agent, h.record.Fact); err != nil {
			return err
		}
		var ok bool
		if h.record, ok = h.next(); !ok {
			heads = append(heads[:least], heads[least+1:]...)
		}
	}
	if failure != nil {
		return failure
	}
	return e.Finish(e.Now())
}

// errStopped ends the reading of a journal when its consumer has stopped.
var errStopped = errors.New("stopped")
