package report

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
)

//go:generate go test -run TestReference -update

var update = flag.Bool("update", false, "write docs/OUTPUT.md")

const referenceFile = "../docs/OUTPUT.md"

const referenceHead = `# What a run writes

<!-- made by go generate ./report from the code; edit that, not this page -->

` + "`bourse simulate --out DIR`" + ` writes into DIR:

| file | holds |
|---|---|
| report.html | a page with everything: figures, prices, and why each job got what it got |
| summary.json | the measures of the run, or of the first seed of several |
| jobs.csv | a row for each local job, for each leg of a VO job that is in its last window or cost something, and for each VO job without one |
| events.jsonl | every fact, in order, a JSON object in a line |
| gantt.svg | every site's nodes over time |
| run.json | what the run follows from: scenario with the batches, outages, prices and files of Slurm that it names, seed, version, sizes and SHA-256 of its traces; ` + "`simulate --again DIR`" + ` runs it again |
| summaries.jsonl | of several seeds: the summary of each, in a line |
| means.json | of several seeds: mean and half-width of the 95 % interval of each measure |

` + "`bourse sweep --out DIR`" + ` writes sweep.html, runs.csv (a row for each run: its settings, its seed and all its measures), summary.csv (a row for each
combination, owner and measure: mean, ci95, runs, min, p10, median, p90, max), differences.csv (the same less the first combination with the same seeds) and
sweep.json; with a target tries.csv (a row for each run). ` + "`bourse report A B`" + ` writes comparison.html and comparison.csv.

Times are seconds from the scenario's zero, durations seconds, money credits, ci95 the half-width of a 95 % interval (Student's t). The columns of a
table stand in the order of this page; later versions add columns at the end.

Where local jobs or a VO's jobs come from a log, every seed reads the same one. Intervals over seeds say what else might have been drawn, those over weeks
what other weeks of the log's machine might have shown. Weeks begin with the log's first submission, and a job counts in the week of its submission. A figure
is a ratio of sums over weeks, with the variance of a ratio estimator and a factor for neighbours that are alike, as in ` + "`" + `replay --compare` + "`" + `. What is summed is in ` + "`" + `weeks` + "`" + ` of
summary.json. Of a total, such as a cost, the interval is that of the mean over all jobs, times their number.
`

// referenceTables are the files of other rooms. A test of the commands holds them
// against the files that are really written.
const referenceTables = `
## run.json

| key | says |
|---|---|
| format | of this file: 1 |
| version | of the program that made the run |
| seed | the first |
| runs | how many seeds, from the first on |
| scenario | its name, and its text as it was read |
| traces | what it has read: name, size and SHA-256 of each file |

## means.json

A list. The tables of the terminal for several seeds show the same.

| key | says |
|---|---|
| owner | a site, a VO, or all sites |
| measure | its name, with its unit |
| mean | over the seeds |
| ci95 | half-width of its 95 % interval |
| runs | how many seeds |
| overWeeks | with a log of eight weeks or more, of a measure of its jobs or of a VO: ^ci95^, half-width of the 95 % interval over its weeks, ^weeks^, how many have jobs, and ^lag^, how alike neighbours are, -1 to 1 |

## runs.csv

A row for each run of a sweep.

| column | says |
|---|---|
| point | the combination of values, from 1 in the order of the file |
| KEY | of each parameter: its value |
| seed | of the run |
| OWNER: MEASURE | of each site, of each VO and of all sites: the measure |

## summary.csv

A row for each combination, owner and measure of a sweep.

| column | says |
|---|---|
| point | as in runs.csv |
| KEY | of each parameter: its value |
| owner | a site, a VO, or all sites |
| measure | its name, with its unit |
| mean | over the seeds |
| ci95 | half-width of its 95 % interval |
| runs | how many seeds |
| min | the least of the seeds |
| p10 | the quantile of 10 %, between two seeds interpolated |
| median | of the seeds |
| p90 | the quantile of 90 % |
| max | the most of the seeds |
| ci95 weeks | only with a log of eight weeks or more: half-width of the 95 % interval over its weeks; empty where a measure has none |
| weeks | how many weeks have jobs |

## differences.csv

A row for each combination but the first, owner and measure. A difference whose absolute value is larger than its ci95 is unlikely to be luck.

| column | says |
|---|---|
| point | as in runs.csv |
| KEY | of each parameter: its value |
| owner | a site, a VO, or all sites |
| measure | its name, with its unit |
| difference | from the first combination, seed by seed: the mean over the seeds |
| ci95 | half-width of its 95 % interval |
| runs | how many seeds |
| ci95 weeks | only with a log of eight weeks or more: half-width of the 95 % interval over its weeks, week by week; empty where a measure has none or the combinations read different logs |
| weeks | how many weeks have jobs |

## sweep.json

| key | says |
|---|---|
| name | of the sweep |
| fingerprint | of all that it follows from: file, scenario, traces |
| seed | the first |
| runs | seeds for each combination |
| parameters | key and values of each |

## tries.csv

A row for each value that a sweep with a target has tried and each seed it was run with: once too many seeds have missed the bound, the others are not run.

| column | says |
|---|---|
| KEY | the parameter: the value tried |
| seed | of the run |
| MEASURE | what the target asks of |
| met | whether this run meets it |

## comparison.csv

What ^report A B^ writes of two runs: a row for each owner and measure.

| column | says |
|---|---|
| owner | a site, a VO, or all sites |
| measure | its name, with its unit |
| a | mean over the seeds of the first run |
| a ci95 | half-width of its 95 % interval |
| a runs | how many seeds it has |
| b | the same of the second run |
| b ci95 | of the second run |
| b runs | of the second run |
| b less a | the difference |
| ci95 | half-width of the 95 % interval of the difference |
| paired | true if it is taken seed by seed, as both have the same seeds |
| ci95 weeks | only if both read the same eight weeks or more of a log: half-width of the 95 % interval over its weeks; empty where a measure has none |
| weeks | how many weeks have jobs |

## The files of a study

^bourse study NAME --out DIR^ writes NAME.json and NAME.csv, a row for each figure, and NAME.html; NAME-values.csv
has the values that each interval is made of.

| column | says |
|---|---|
| measure | what is measured |
| setting | under which setting |
| paper | what the paper says, in its unit or in words |
| here | what comes out here |
| ci95 | half-width of the 95 % interval |
| runs | how many units the interval is over |
| verdict | whether the paper's figure is met; the rule stands below the table |
| over | what such a unit is: a seed, a draw, an interval of the trace |
| ci95Workload | half-width of the 95 % interval that covers the workload too; 0 if there is none |
| blocks | how many blocks of the workload it resamples |

## The rows of replay --jobs-out

Times are in the clock of the trace. Jobs that were refused or dropped have no row.

| column | says |
|---|---|
| job | its number in the trace |
| submit | when it came |
| start | when it started |
| end | when it ended |
| procs | processors |
| estimate | of its length |
| kind | ^immediate^, ^backfilled^, ^reserved^ (it had a place held for it) or ^reservation^ (with --reservations) |

With ^--policy slurm^ there are three more, ^job^ is Slurm's own number, ^procs^ its CPUs, and
^reservation^ is a job in a reservation of Slurm's:

| column | says |
|---|---|
| partition | where it ran |
| by | which of Slurm's schedulers started it: ^main^ or ^backfill^ |
| why | what it last waited for ([TWIN](TWIN.md)); empty if the first pass that saw it started it |

## The rows of replay --forecasts

A row for each submission that is forecast (^--every^), as it was said then. Times are in the clock
of the trace. Of a job that starts at once, every time is its submit. A time is empty if too few
draws start the job.

| column | says |
|---|---|
| job | its number in the trace |
| submit | when it came |
| start | when it started |
| class | how far ahead the median of the draws lay: ^now^, ^0-15min^, ^15min-1h^, ^1h-4h^, ^4h-12h^, ^12h-2d^, or ^far^ for more, of which no band is claimed |
| median | the likeliest start |
| lower | where the band of ^--level^ begins |
| upper | where it ends |
| raw_lower | where it would begin by the draws alone |
| raw_upper | where it would end |
| calibrated | ^true^ if 30 or more starts were known to make the band from |
`

// The reference is what the code writes, in a page.
func TestReference_IsUpToDate(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(referenceHead)
	writeColumns(&b)
	writeMeasureList(&b)
	b.WriteString(strings.ReplaceAll(referenceTables, "^", "`"))
	writeExportColumns(&b)
	writeSummaryKeys(t, &b)
	writeFacts(t, &b)
	if *update {
		if err := os.WriteFile(referenceFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referenceFile)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/OUTPUT.md is not what the code says (%v); run go generate ./report", err)
	}
}

func writeColumns(b *strings.Builder) {
	fmt.Fprint(b, "\n## jobs.csv\n\n| column | says |\n|---|---|\n")
	for _, c := range columns {
		fmt.Fprintf(b, "| %s | %s |\n", c.Name, c.Says)
	}
	fmt.Fprint(b, "\nWhere a job of the run leaves its site a choice of when it starts, these follow:\n\n| column | says |\n|---|---|\n")
	for _, c := range windowColumns {
		fmt.Fprintf(b, "| %s | %s |\n", c.Name, c.Says)
	}
	fmt.Fprintf(b, "\nThen, if a job of the run has parts:\n\n| column | says |\n|---|---|\n| %s | %s |\n", partColumn.Name, partColumn.Says)
	fmt.Fprint(b, "\nLast, if a job of the run asks for less than whole nodes:\n\n| column | says |\n|---|---|\n")
	for _, c := range portionColumns {
		fmt.Fprintf(b, "| %s | %s |\n", c.Name, c.Says)
	}
}

func writeMeasureList(b *strings.Builder) {
	fmt.Fprint(b, "\n## Measures\n\nIn means.json, runs.csv, summary.csv, differences.csv and comparison.csv, each by its owner, a site, a VO or `"+AllSites+"`. Its name has its unit.\n"+
		"\n| of a site | is |\n|---|---|\n")
	for _, m := range siteMeasures {
		if m.name != "" {
			fmt.Fprintf(b, "| %s | %s |\n", m.name, m.about)
		}
	}
	fmt.Fprint(b, "\n| of a VO | is |\n|---|---|\n")
	for _, m := range brokerMeasures {
		if m.name != "" {
			fmt.Fprintf(b, "| %s | %s |\n", m.name, m.about)
		}
	}
	fmt.Fprint(b, "\n| of "+AllSites+" | is |\n|---|---|\n")
	for _, m := range gridMeasures {
		fmt.Fprintf(b, "| %s | %s |\n", m.name, m.about)
	}
}

func writeExportColumns(b *strings.Builder) {
	fmt.Fprint(b, "\n## The rows of export --to evalys\n\nA row for each local job and each leg that has begun, in the order in which they end.\n\n| column | says |\n|---|---|\n")
	for _, c := range EvalysColumns {
		fmt.Fprintf(b, "| %s | %s |\n", c.Name, c.Says)
	}
}

func TestMeasures_OneWithANameSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, m := range siteMeasures {
		if m.name != "" && m.about == "" {
			t.Errorf("%s is not explained", m.name)
		}
	}
	for _, m := range brokerMeasures {
		if m.name != "" && m.about == "" {
			t.Errorf("%s is not explained", m.name)
		}
	}
}

// source is what files of Go say of their types.
type source struct {
	types map[string]*ast.StructType
	docs  map[string]string
	kinds map[string]string // by type: what its method Kind returns
}

func readSource(t *testing.T, patterns ...string) source {
	t.Helper()
	s := source{map[string]*ast.StructType{}, map[string]string{}, map[string]string{}}
	var names []string
	for _, pattern := range patterns {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatal(pattern, err)
		}
		names = append(names, some...)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, one := range d.Specs {
					if x, ok := one.(*ast.TypeSpec); ok {
						if st, ok := x.Type.(*ast.StructType); ok {
							s.types[x.Name.Name] = st
							if s.docs[x.Name.Name] = sentence(x.Doc); x.Doc == nil && !d.Lparen.IsValid() {
								s.docs[x.Name.Name] = sentence(d.Doc)
							}
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "Kind" {
					kind, _ := strconv.Unquote(d.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit).Value)
					s.kinds[d.Recv.List[0].Type.(*ast.Ident).Name] = kind
				}
			}
		}
	}
	return s
}

// sentence is a comment in one line.
func sentence(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	var p comment.Parser
	text := (&comment.Printer{TextWidth: -1}).Text(p.Parse(g.Text()))
	return strings.ReplaceAll(strings.Join(strings.Fields(string(text)), " "), "|", "\\|")
}

// key is a key of a JSON object.
type key struct{ name, says, made string }

// keys lists those of a type, those of embedded types among them.
func (s source) keys(typ string) []key {
	st := s.types[typ]
	if st == nil {
		return nil
	}
	var list []key
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 && f.Tag == nil {
			if name, ok := f.Type.(*ast.Ident); ok {
				list = append(list, s.keys(name.Name)...)
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		list = append(list, key{name, strings.TrimSpace(sentence(f.Doc) + " " + sentence(f.Comment)), s.made(f.Type)})
	}
	return list
}

// made names the type of a field that is made of another's keys, "" of any other.
func (s source) made(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.Ident:
		if s.types[of.Name] != nil {
			return of.Name
		}
	case *ast.StarExpr:
		return s.made(of.X)
	case *ast.ArrayType:
		if name := s.made(of.Elt); name != "" {
			return "a list of " + name
		}
	}
	return ""
}

func writeSummaryKeys(t *testing.T, b *strings.Builder) {
	t.Helper()
	s := readSource(t, "*.go")
	fmt.Fprint(b, "\n## summary.json\n")
	for _, typ := range []string{"Summary", "Setting", "SiteSummary", "Utilisation", "GroupSummary", "LocalSummary", "LogSummary", "Income", "Deadlines", "BrokerSummary", "ValueLost", "JobSummary", "TransactionSummary", "CycleSummary"} {
		keys := s.keys(typ)
		if len(keys) == 0 {
			t.Errorf("summary.json: %s has no keys", typ)
		}
		fmt.Fprintf(b, "\n**%s** %s.\n\n| key | says |\n|---|---|\n", typ, strings.TrimSuffix(strings.TrimPrefix(s.docs[typ], typ+" "), "."))
		for _, k := range keys {
			says := k.says
			if k.made != "" {
				says = strings.TrimSuffix(k.made+": "+says, ": ")
			}
			fmt.Fprintf(b, "| %s | %s |\n", k.name, says)
		}
	}
}

func writeFacts(t *testing.T, b *strings.Builder) {
	t.Helper()
	s := readSource(t, "../grid/*.go", "../facts/*.go")
	fmt.Fprint(b, "\n## events.jsonl\n\nEach line has `at` (seconds), `agent` (`site:north`, `cluster:north`, `broker:vo1`), `kind` and the keys of its kind; a key whose value is zero may "+
		"be absent. Journals of processes hold the same facts, and more kinds of them than a simulation records.\n")
	seen := map[string]bool{}
	for _, f := range facts.Facts() {
		typ := reflect.TypeOf(f).Name()
		kind := s.kinds[typ]
		if kind != f.Kind() || seen[kind] {
			t.Fatalf("%s is of kind %q", typ, kind)
		}
		seen[kind] = true
		var list []string
		for _, k := range s.keys(typ) {
			if k.says == "" {
				list = append(list, "`"+k.name+"`")
			} else {
				list = append(list, "`"+k.name+"` ("+k.says+")")
			}
		}
		said := s.docs[typ]
		if after, ok := strings.CutPrefix(said, typ+" "); ok && (strings.HasPrefix(after, "says ") || strings.HasPrefix(after, "is ")) {
			said = strings.ToUpper(after[:1]) + after[1:]
		}
		fmt.Fprintf(b, "\n**%s** %s\n", kind, strings.TrimSpace(said+" Keys: "+strings.Join(list, ", ")+"."))
	}
}
