package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/workload"
)

// newConvert builds "bourse convert".
func newConvert() *cobra.Command {
	var c convert
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Rewrite a workload trace or a table of jobs in SWF or GWF",
		Long: `Reads a trace and writes it to another file: in the Standard Workload Format if
the name ends in .swf, in the Grid Workload Format of the Grid Workloads Archive
if it ends in .gwf, compressed if .gz follows. Comment lines are kept, at the top.
Lines that are not records are left out, and records out of order are sorted by
submit; stderr reports both. With --strict they are errors. OUT is replaced only
once the new file is complete.

Within one format, all fields of a record are kept. From GWF to SWF, the names of
users, groups, executables, queues and partitions become numbers, listed in the
header; a record without a partition gets the site that it ran on; columns that
SWF lacks are left out. From SWF to GWF, the listed names come back; the preceding
job and the think time are left out.

If OUT ends in .toml, it is a scenario to simulate, with a site for each partition
of the log. A site has as many processors as were enough for --size of the time,
and at least as many as its widest job; --size 1 is the most in use at once.

IN may also be the output of Slurm's sacct, in a file whose name ends in .sacct, or
the same table as Apache Parquet (.parquet), with any of its columns:

  sacct -aXPD --starttime 2026-01-01 --format ALL > year.sacct

or any other table (.csv) with the names of its columns in the first line, parted by
bars, tabs, semicolons or commas. Names of sacct, SWF, pyslurm, Batsim and evalys are
known. --map says what other columns are: job, submit, start, end, wait, run,
estimate, nodes, status, user, group, name, queue or partition. Numbers that are
times are seconds; :ms, :min, :h or :d after the column's name is another unit.

stderr says what each column is used for, and which rows, columns and times are not.
Times that state no zone are in the cluster's --zone, UTC by default; the trace begins
at its first submit. Where the clock was put back, the order of a job's times and its
length tell which hour is meant. Steps, and jobs that had not ended, are left out. Rows
alike in number, submit and start are one job, so dumps may overlap. A job that became
eligible after its submit is submitted at that later time.

Lines of partial executions (status 2, 3 or 4) are left out, as another line sums up
their job. Fields beyond the 18 of SWF are left out if the first record has them.

gzip, bzip2 and zstd, a byte order mark and UTF-16 are known by the first bytes. A
file whose name does not end in a format is known by what it holds. If no record has
both a number of processors and a run time, nothing is written.

IN may be -, the standard input; --from gives the format if the name does not.
--partition N takes only the records of one partition.

--split DIR writes a file for each partition (each site of a grid's log) into that
folder instead of OUT.`,
		Example: "  bourse convert SDSC-SP2.swf.gz SDSC-SP2.swf\n  bourse convert --strict log.swf clean.swf.gz\n" +
			"  bourse convert grid.gwf.gz grid.swf.gz\n  bourse convert LCG-2005-1.swf.gz --split sites\n  zcat log.gz | bourse convert - log.swf --from swf\n  bourse convert year.sacct year.swf.gz --zone Europe/Berlin\n  bourse convert LCG-2005-1.swf.gz lcg.toml\n" +
			"  bourse convert log.csv log.swf --map submit=Queued,run=Took:min,nodes=Cores",
		Args: func(_ *cobra.Command, args []string) error { return c.takes(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.split != "" {
				return c.parts(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return c.run(args[0], args[1], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.addFlags(cmd)
	return cmd
}

// addFlags adds the flags of convert.
func (c *convert) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&c.strict, "strict", false, "refuse bad lines and records out of order")
	f.BoolVar(&c.json, "json", false, "print the counts as JSON")
	flags.AddFlag(cmd, &c.split, flags.AsFolder, "split", "", "write a file for each partition into this folder")
	flags.AddFrom(cmd, &c.from, "IN")
	flags.AddFlag(cmd, &c.columns, asColumns, "map", "", "for a table: what its columns are, as "+workload.MapForm)
	flags.AddZone(cmd, &c.zone)
	flags.AddFlag(cmd, &c.partition, flags.AsNumber, "partition", 0, "only the records of this partition (default: all)")
	flags.AddFlag(cmd, &c.size, flags.AsShare, "size", 0.99, "for a scenario: share of the time for which a site must be large enough, above 0 to 1")
}

// takes refuses another number of files than a conversion has.
func (c *convert) takes(args []string) error {
	switch {
	case c.split != "" && len(args) != 1:
		return fmt.Errorf("convert --split takes one file, IN; %d given", len(args))
	case c.split == "" && len(args) != 2:
		return fmt.Errorf("convert takes two files, IN and OUT; %d given", len(args))
	}
	return nil
}

// asColumns is the kind of --map. Its text is read again with the file (columnsOf).
var asColumns = flags.Kind[string]{Word: "columns", Parse: func(s string) (string, error) {
	_, err := workload.ParseMap(s)
	return s, err
}, Complete: flags.OfferNothing}

// columnsOf are the columns of --map, none if it was not given.
func columnsOf(text string) []workload.Mapped {
	if text == "" {
		return nil
	}
	list, _ := workload.ParseMap(text) // the flag was refused otherwise
	return list
}

type convert struct {
	strict, json bool
	split        string // folder for a file per partition; "": write one file
	from         string
	columns      string // what the columns of a table are; "": known by their names
	zone         *time.Location
	partition    int
	size         float64
}

// converted is what convert prints.
type converted struct {
	Records   int `json:"records"`
	BadLines  int `json:"badLines"`
	Backwards int `json:"backwards"`
}

func (c *convert) run(in, out string, stdout, stderr io.Writer) error {
	if err := flags.MissingFirst(checkConversion(in, out), []string{in}); err != nil {
		return err
	}
	if format(out) == "toml" {
		if c.columns != "" {
			return fmt.Errorf("--map: a scenario reads %s itself and cannot map its columns; convert it to SWF first, then that to %s", in, out)
		}
		if c.zone == time.Local {
			return fmt.Errorf("--zone %v: a scenario must mean the same on every machine; give the zone's name, such as Europe/Berlin", c.zone)
		}
		return c.scenario(in, out, stdout, stderr)
	}
	t, err := c.open(in, stderr)
	if err != nil {
		return err
	}
	if lost := c.lostBetween(t, in, out); lost != "" {
		fmt.Fprintf(stderr, "%s: %s\n", in, lost)
	}
	if err := workload.WriteFile(out, t); err != nil {
		return failure.Of(err)
	}
	done := converted{len(t.Records), t.BadCount, t.Backwards}
	if c.json {
		return failure.Of(flags.WriteJSON(stdout, done))
	}
	_, err = fmt.Fprintf(stdout, "%s: %d records\n", out, done.Records)
	return failure.Of(err)
}

// open reads the trace and reports what was mended.
func (c *convert) open(in string, stderr io.Writer) (*workload.Trace, error) {
	if !(c.size > 0 && c.size <= 1) {
		return nil, fmt.Errorf("--size %v: must be above 0 and at most 1", c.size)
	}
	t, err := workload.Open(in, workload.Options{Strict: c.strict, Format: c.from, Zone: c.zone, Map: columnsOf(c.columns)})
	if err != nil {
		return nil, err
	}
	for _, line := range t.Remarks() {
		fmt.Fprintln(stderr, line)
	}
	if c.columns != "" && !t.Table {
		return nil, fmt.Errorf("--map has no effect on %s, whose columns have no names; leave it out", in)
	}
	if why := t.Useless(); why != "" {
		return nil, fmt.Errorf("%s: %s", in, why)
	}
	if c.partition == 0 {
		return t, nil
	}
	var numbers []string
	for _, p := range t.Partitions() {
		if p.Number == int64(c.partition) {
			return p.Trace, nil
		}
		numbers = append(numbers, strconv.FormatInt(p.Number, 10))
	}
	if len(numbers) > 20 {
		numbers = append(numbers[:20], "...")
	}
	return nil, fmt.Errorf("%s has no records of partition %d; it has those of %s", in, c.partition, strings.Join(numbers, ", "))
}

// lostBetween says what the other format cannot hold, "" if nothing.
func (c *convert) lostBetween(t *workload.Trace, in, out string) string {
	if t.Beyond != nil && format(out) == "swf" {
		return "columns 17 to 29 are left out: SWF has no place for them"
	}
	if n := t.WithGPUs(); n > 0 {
		return fmt.Sprintf("the GPUs of %s are left out: SWF and GWF have no place for them", grid.Count(n, "job"))
	}
	if format(out) == "gwf" && t.Beyond == nil {
		for i := range t.Records {
			if t.Records[i][workload.PrecedingJob].Whole() > 0 {
				return "preceding jobs and think times are left out: GWF has no place for them"
			}
		}
	}
	return ""
}

// part is what convert --split reports for one partition.
type part struct {
	Partition int64  `json:"partition"`
	Name      string `json:"name,omitempty"`
	File      string `json:"file"`
	Records   int    `json:"records"`
}

// parts writes a file for each partition, named by its number, in the format
// and compression of the file they come from.
func (c *convert) parts(in string, stdout, stderr io.Writer) error {
	t, err := c.open(in, stderr)
	if err != nil {
		return err
	}
	base, suffix := filepath.Base(in), ".swf"
	if t.Beyond != nil {
		suffix = ".gwf"
	}
	if strings.HasSuffix(strings.ToLower(in), ".gz") {
		suffix += ".gz"
	}
	list := t.Partitions()
	if len(list) == 1 && list[0].Number < 0 {
		return fmt.Errorf("%s: nothing to split by: its records name no partition", in)
	}
	if err := os.MkdirAll(c.split, 0o755); err != nil {
		return failure.Of(err)
	}
	rows := make([]part, len(list))
	for i, p := range list {
		number := strconv.FormatInt(p.Number, 10)
		if p.Number < 0 {
			number = "unknown"
		}
		file := filepath.Join(c.split, stem(base)+"-"+number+suffix)
		if err := checkConversion(in, file); err != nil {
			return err
		}
		if err := workload.WriteFile(file, p.Trace); err != nil {
			return failure.Of(err)
		}
		rows[i] = part{p.Number, p.Name, file, len(p.Trace.Records)}
	}
	if c.json {
		return failure.Of(flags.WriteJSON(stdout, rows))
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(stdout, "%s: %d records\n", r.File, r.Records); err != nil {
			return failure.Of(err)
		}
	}
	return nil
}

// checkConversion refuses formats that convert cannot write, and converting a file onto
// itself, under whatever name.
func checkConversion(in, out string) error {
	if f := format(out); f != "swf" && f != "gwf" && !strings.HasSuffix(out, ".toml") {
		return fmt.Errorf("%s: unknown format; the name must end in .swf or .gwf, with or without .gz, or in .toml", out)
	}
	if in == workload.Stdin {
		return nil
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
		return fmt.Errorf("%s and %s are one file; give OUT another name", in, out)
	}
	if !to.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", out)
	}
	return nil
}

// format is the format by a file's name: its last extension, not counting ".gz".
func format(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return name[strings.LastIndexByte(name, '.')+1:]
}
