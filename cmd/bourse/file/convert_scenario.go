package file

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// scenario writes a scenario with a site for each partition of a grid's log and a broker
// with jobs of its own. A site is large enough for what it used most of the time.
func (c *convert) scenario(in, out string, stdout, stderr io.Writer) error {
	t, err := c.open(in, stderr)
	if err != nil {
		return err
	}
	text, sites := c.gridScenario(t, in, stderr)
	if sites == 0 {
		return fmt.Errorf("%s: none of its jobs ran in a known partition, so no site can be made", in)
	}
	if err := files.Replace(out, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return failure.Of(err)
	}
	if c.json {
		return failure.Of(flags.WriteJSON(stdout, map[string]int{"sites": sites, "records": len(t.Records)}))
	}
	_, err = fmt.Fprintf(stdout, "%s: %s; run it with bourse simulate %s --traces %s\n", out, grid.Count(sites, "site"), out, filepath.Dir(in))
	return failure.Of(err)
}

// gridScenario returns the text of the scenario and the number of its sites.
func (c *convert) gridScenario(t *workload.Trace, in string, stderr io.Writer) (text string, count int) {
	trace, zone := filepath.Base(in), ""
	if c.zone != time.UTC && workload.HasZone(workload.FormatOf(in)) {
		zone = fmt.Sprintf(", zone = %q", c.zone)
	}
	var last grid.Time
	for i := range t.Records {
		last = max(last, t.Records[i].Submit())
	}
	days := max((last.Sub(t.Zero())+grid.Day-1)/grid.Day, 1)
	var b scenarioText
	b.line("# The sites of %s, each with the jobs that its log has; needs --traces DIR.", trace)
	b.line("#")
	if c.size == 1 {
		b.line("# A site is as large as the most processors that it used at once in the log, so")
	} else {
		b.line("# A site is as large as what it used at most for %v %% of the log's time, so", math.Round(1e4*c.size)/100)
	}
	if c.size >= hardlyWait {
		b.line("# its own users hardly wait. A VO adds jobs of its own. Each site is one line, and")
	} else {
		b.line("# its own users wait in queues. A VO adds jobs of its own. Each site is one line, and")
	}
	b.line("# can also be written as a table, [[site]], with [[site.group]] below it.")
	b.line("")
	b.line("name = %q", stem(trace))
	b.line("until = \"%dd\"", days)
	b.line("site = [")
	for _, p := range t.Partitions() {
		nodes := p.Trace.Size(c.size)
		if p.Number < 1 || nodes == 0 {
			fmt.Fprintf(stderr, "partition %d: no site made of its %d records: none ran in a numbered partition\n", p.Number, len(p.Trace.Records))
			continue
		}
		name := p.Name
		if name == "" {
			name = "site-" + strconv.FormatInt(p.Number, 10)
		}
		count++
		b.line("  { name = %q, group = [{ name = \"main\", nodes = %d, price = 1.0 }], workload = { trace = %q, partition = %d%s } },", name, nodes, trace, p.Number, zone)
	}
	b.line("]")
	b.line("\n[[broker]]\nname = \"vo1\"\nbudget = 50000.0\ncycle = \"30m\"\nhorizon = \"7d\"\nalgorithm = \"amp\"\nminimize = \"value\"")
	b.line("[broker.workload]\nmodel = \"uniform\"\njobs = 1000")
	return string(b), count
}

// hardlyWait is the share of the time from which a site counts as large enough for its
// own users.
const hardlyWait = 0.95

// stem is a file's name without its extensions.
func stem(name string) string {
	for ext := filepath.Ext(name); slices.Contains([]string{".gz", ".bz2", ".zst", ".swf", ".gwf", ".sacct", ".csv", ".parquet"}, ext); ext = filepath.Ext(name) {
		name = name[:len(name)-len(ext)]
	}
	return name
}

// scenarioText grows by lines.
type scenarioText []byte

func (t *scenarioText) line(form string, args ...any) { *t = fmt.Appendf(*t, form+"\n", args...) }
