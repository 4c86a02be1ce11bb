package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bourse-grid/bourse/workload/files"
)

// What a trace is, is known by its beginning: how it is packed and encoded, whether its name
// or the caller says its format or it begins like one, and whether it is a log of another
// program, which has a way in of its own.

// headBytes is how much of a trace is looked at for what it is.
const headBytes = 64 << 10

// beginning is a trace that has been looked at: plain text, and options that say its format.
type beginning struct {
	in  io.Reader
	opt Options
}

// begin finds out what a trace is. The error says what cannot be read, and the way in.
func begin(r io.Reader, name string, opt Options) (beginning, error) {
	if opt.Skip < 0 {
		return beginning{}, fmt.Errorf("%s: %d records cannot be skipped; must be 0 or more", name, opt.Skip)
	}
	r, err := files.Plain(r)
	var packed *files.PackedError
	switch {
	case errors.As(err, &packed):
		return beginning{}, fmt.Errorf("%s: %s", name, wayThrough(packed, name))
	case err != nil:
		return beginning{}, fmt.Errorf("%s: is damaged: %w", name, err)
	}
	head, r := files.Peek(r, headBytes)
	said := opt.Format != ""
	if !said {
		opt.Format, said = formatOf(name)
	}
	line, comment := firstLine(head)
	if is, way := otherFormat(line, head); is != "" {
		return beginning{}, fmt.Errorf("%s: is no %s; it looks like %s. Formats that are read: %s. %s",
			name, strings.ToUpper(opt.Format), is, strings.Join(Formats(), ", "), way)
	}
	if opt.Format != FormatSWF {
		return beginning{r, opt}, nil
	}
	switch {
	case looksLikeTable(line, opt.Map) && !said:
		opt.Format = FormatCSV
	case looksLikeTable(line, opt.Map):
		return beginning{}, fmt.Errorf("%s: is no SWF: its first line, %.60q, has the names of columns; read it with --from csv", name, line)
	case !said && (comment == '#' || len(bytes.Fields(line)) == gridColumns) && len(bytes.Fields(line)) >= gridLeast:
		opt.Format = FormatGWF
	case begins(line) != 0 && !strings.ContainsRune("-+.0123456789", begins(line)) && len(cellsBy(line)) > 2:
		return beginning{}, fmt.Errorf("%s: is no SWF. %w", name, nameless(cellsBy(line)))
	case len(bytes.Fields(line)) < 3 && len(cellsBy(line)) > 3: // numbers, parted by commas
		return beginning{}, fmt.Errorf("%s: is no SWF; it looks like a table without a line of names. Put one on top, such as job,submit,start,end,nodes,estimate, and read it with --from csv", name)
	}
	return beginning{r, opt}, nil
}

// wayThrough says how to unpack a file.
func wayThrough(p *files.PackedError, name string) string {
	if name == "standard input" {
		return p.Error()
	}
	out := strings.TrimSuffix(name, filepath.Ext(name))
	if out == name {
		out += ".plain"
	}
	return fmt.Sprintf("is %s, which is not read; gzip, bzip2 and zstd are. Unpack it: %s %s > %s", p.Kind, p.Tool, name, out)
}

// firstLine returns the first line that is neither blank nor a comment, without its end,
// and the character that begins the comments before it, 0 if there are none.
func firstLine(head []byte) (line []byte, comment byte) {
	for len(head) > 0 {
		line, head, _ = bytes.Cut(head, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		switch text := bytes.TrimSpace(line); {
		case len(text) == 0:
		case text[0] == ';' || text[0] == '#':
			comment = text[0]
		default:
			return line, comment
		}
	}
	return nil, comment
}

// begins is the first character of a line, 0 if it has none.
func begins(line []byte) rune {
	for _, c := range string(bytes.TrimSpace(line)) {
		return c
	}
	return 0
}

// otherLog is a log of another program.
type otherLog struct {
	is   string
	like *regexp.Regexp
	way  string
}

// others are logs of other programs, with what a line of theirs looks like and the way in.
var others = sync.OnceValue(func() []otherLog {
	return []otherLog{
		{"a PBS accounting log", regexp.MustCompile(`^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];`), "Make a table of its records of kind E, with columns for ctime, start, end and ncpus, and read that:" + mapped("submit=ctime,start=start,end=end,nodes=ncpus")},
		{"the accounting of LSF (lsb.acct)", regexp.MustCompile(`^"(JOB|EVENT)_[A-Z_]+" "[0-9.]+" \d+`), "Make a table of its JOB_FINISH records, with the times of submission, start and end and the processors, and read that:" + mapped("submit=SUBMIT,start=START,end=END,nodes=PROCS")},
		{"the accounting of Grid Engine (SGE)", regexp.MustCompile(`^[^:|,;\t ]*:[^:]*:[^:]*:[^:]*:[^:]*:\d+:[^:]*:-?\d+:\d+:\d+:\d+:`), "Make a table of its fields 9 to 11 (submission, start, end) and 35 (slots), and read that:" + mapped("submit=submission_time,start=start_time,end=end_time,nodes=slots")},
		{"a job history of HTCondor", regexp.MustCompile(`^(\*\*\* |(MyType|ClusterId|GlobalJobId) = |\d{3} \(\d+\.\d+\.\d+\) )`), condorWay},
		{"XML", regexp.MustCompile(`^\s*<[?!A-Za-z]`), jsonWay},
		{"a scenario or another file of Bourse, in TOML", regexp.MustCompile(`^\s*(\[\[?[A-Za-z_.]+\]?\]|[A-Za-z_]+\s*=\s*["\d\[])`), "bourse check FILE says what it holds, and which command takes it."},
	}
})

const (
	condorWay = "Print a table of it: condor_history -af:h, QDate JobCurrentStartDate CompletionDate RequestCpus Owner, and read that:"
	condorMap = "submit=QDate,start=JobCurrentStartDate,end=CompletionDate,nodes=RequestCpus,user=Owner"
	anyMap    = "submit=COLUMN,nodes=COLUMN,run=COLUMN"
	jsonWay   = "Make a table of it, with a line of names on top, and read that:"
)

// mapped is how convert is told what columns are.
func mapped(columns string) string { return " bourse convert TABLE.csv OUT.swf --map " + columns }

// otherFormat says which other program's log a trace looks like, "" if none, and the way in.
func otherFormat(line, head []byte) (is, way string) {
	text := bytes.TrimSpace(line)
	if len(text) > 0 && (text[0] == '{' || text[0] == '[' && !tableOfTOML().Match(text)) {
		return otherJSON(head)
	}
	for _, o := range others() {
		switch {
		case o.way == condorWay && (o.like.Match(line) || bytes.Contains(head, []byte("\nClusterId = "))):
			return o.is, o.way + mapped(condorMap)
		case !o.like.Match(line):
		case o.way == jsonWay:
			return o.is, o.way + mapped(anyMap)
		default:
			return o.is, o.way
		}
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	switch {
	case bytes.HasPrefix(first, []byte("#!")):
		return "a script", "Give a log of jobs."
	case bytes.HasPrefix(first, []byte("SQLite format 3")):
		return "an SQLite database", jsonWay + mapped(anyMap)
	case bytes.HasPrefix(first, []byte("\x89HDF")):
		return "HDF5", jsonWay + mapped(anyMap)
	case bytes.HasPrefix(first, []byte("ARROW1")), bytes.HasPrefix(first, []byte("FEA1")):
		return "Arrow or Feather", "Write it as Parquet, or as a table with a line of names on top."
	case bytes.HasPrefix(first, []byte(parquetMagic)):
		return "Parquet", "Parquet is read from its end on; give a file."
	}
	return "", ""
}

// tableOfTOML tells a table of TOML from an array of JSON.
var tableOfTOML = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[\[?[A-Za-z_][\w.]*\]`) })

// otherJSON says whose JSON it is.
func otherJSON(head []byte) (is, way string) {
	has := func(words ...string) bool {
		for _, w := range words {
			if !bytes.Contains(head, []byte(strconv.Quote(w))) {
				return false
			}
		}
		return true
	}
	switch {
	case has("nb_res") || has("profiles") || has("subtime"):
		return "a workload of Batsim", "Batsim's own log of a run (out_jobs.csv) is read as it is; or make a table of its jobs with their run times, and read that:" + mapped("submit=subtime,nodes=res,run=RUN,estimate=walltime")
	case has("slurm") || has("job_id", "job_state") || has("job_id", "association") || has("job_id", "partition") || has("meta", "jobs"):
		return "JSON of Slurm", "Print a table in its place, with sacct --parsable2 (-P): sacct -aXPD --format ALL > DUMP.sacct"
	case has("ClusterId") || has("QDate"):
		return "JSON of HTCondor", condorWay + mapped(condorMap)
	}
	return "JSON", jsonWay + mapped(anyMap)
}
