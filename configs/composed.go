package configs

import (
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
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
func (c *Composed) keys() keys.List {
	const wishes = "is only for scenarios; a broker's process has real users"
	return keys.List{
		keys.Share("parts_share", &c.Share, 0, 0, One, "share of the jobs, of those that sites_share leaves in one piece, that have unlike parts: the first is the job as it is drawn; a larger one adds jobs and changes no other").Only(kinds.InScenario, wishes),
		keys.Wholes("parts", &c.Parts, keys.FromTo(2, 2), 2, grid.MaxParts, "how many parts such a job has, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Factors("parts_nodes", &c.Nodes, keys.FromTo(One/4, One), 1, 10*One, "nodes of each part but the first over the job's, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Factors("parts_length", &c.Length, keys.FromTo(One/4, One), 1, 10*One, "length of each part but the first over the job's, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Factors("parts_offset", &c.Offset, Range[Thousandths]{}, 0, 10*One, "when each part but the first starts, after the job's start, over the job's length, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Share("parts_apart", &c.Apart, 0, 0, One, "share of the jobs of parts of which no site carries two parts").Only(kinds.InScenario, wishes),
	}
}

// composes refuses drawn jobs of parts under an algorithm that does not search for them.
func (b *Broker) composes(t *keys.Table) {
	if b.Workload != nil && b.Workload.Composed.Share > 0 && !b.Algorithm.Composes() && t.Clean("algorithm") && t.Clean("workload") {
		t.Wrong("algorithm", "%q does not search for jobs of parts, which parts_share of the workload asks for; must be %s", b.Algorithm.String(), names.Or(search.Composing()))
	}
}
