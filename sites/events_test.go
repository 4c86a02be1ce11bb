package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
)

// Every step that a broker can take of a leg has its row in the table, and what is
// no event is routed by no row.
func TestEvents_AreAllStepsAndWordsOfTheClusterAboutALeg(t *testing.T) {
	t.Parallel()
	for _, p := range agents.Messages() {
		e, known := events[p.Kind()]
		if step := p.Class == agents.Step; step != (known && e < onLimit) {
			t.Errorf("%s is a step: %t, and has a row: %t", p.Kind(), step, known)
		}
		if _, ofLeg := p.Message.(agents.OfLeg); known && (!ofLeg || p.To != agents.Site || names[e] != p.Kind()) {
			t.Errorf("%s, of a leg: %t, to a %s, is event %d, %s", p.Kind(), ofLeg, p.To, e, names[e])
		}
		if word := p.Class == agents.Notice && p.From == agents.Cluster && p.Kind() != (agents.ClusterMoved{}).Kind(); word != (known && e > onLimit) {
			t.Errorf("%s is a word of the cluster: %t, and has a row: %t", p.Kind(), word, known)
		}
	}
}
