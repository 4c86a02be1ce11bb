package configs

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
)

// Composed says how a share of a VO's drawn jobs have unlike parts. The first part is the job
// as it was drawn; the others have shares of its nodes and its length, from an offset on.
type Composed struct {
	Share                 Thousandths        // of the jobs not co-allocated already, 0..1; default 0: none
	Parts                 Range[int]         // drawn uniformly, as are all below; 2..grid.MaxParts, default 2..2
	Nodes, Length, Offset Range[Thousandths] // of each part but the first, over the job's nodes and length
	Apart                 Thousandths        // share of them of which no site carries two parts; default 0
}

// keys lists the keys of jobs with parts in [broker.workload].
func (c *Composed) keys() keys {
	const wishes = "is only for scenarios; a broker's process has real users"
	return keys{
		share("parts_share", &c.Share, 0, 0, One, "share of the jobs, of those that sites_share leaves in one piece, that have unlike parts: the first is the job as it is drawn; a larger one adds jobs and changes no other").only(inScenario, wishes),
		wholes("parts", &c.Parts, Range[int]{2, 2}, 2, grid.MaxParts, "how many parts such a job has, drawn uniformly").only(inScenario, wishes),
		factors("parts_nodes", &c.Nodes, Range[Thousandths]{One / 4, One}, 1, 10*One, "nodes of each part but the first over the job's, drawn uniformly").only(inScenario, wishes),
		factors("parts_length", &c.Length, Range[Thousandths]{One / 4, One}, 1, 10*One, "length of each part but the first over the job's, drawn uniformly").only(inScenario, wishes),
		factors("parts_offset", &c.Offset, Range[Thousandths]{}, 0, 10*One, "when each part but the first starts, after the job's start, over the job's length, drawn uniformly").only(inScenario, wishes),
		share("parts_apart", &c.Apart, 0, 0, One, "share of the jobs of parts of which no site carries two parts").only(inScenario, wishes),
	}
}

// composes refuses drawn jobs of parts under an algorithm that does not search for them.
func (b *Broker) composes(t *table) {
	if b.Workload != nil && b.Workload.Composed.Share > 0 && !b.Algorithm.Composes() && t.clean("algorithm") && t.clean("workload") {
		t.wrong("algorithm", "%q does not search for jobs of parts, which parts_share of the workload asks for; must be %s", b.Algorithm.String(), names.Or(search.Composing()))
	}
}
