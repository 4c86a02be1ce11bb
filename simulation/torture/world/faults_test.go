package world

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every kind of fault has a scenario named after it, here or beside the world; those of
// resource managers and of replicas, what is aimed at a moment, what operators wish, and what few worlds
// have, have tests of their own.
func TestFaults_EveryKindHasAScenario(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		if ofManager(k) || ofReplicas(k) || k == CrashAimed || k == LegAimed || k == OperatorWish || k == Discovery || ofFewWorlds(k) {
			continue
		}
		here := slices.ContainsFunc([]string{"../check/testdata", "../../../agents/sim/testdata"}, func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, "faults", string(k)+".txt"))
			return err == nil
		})
		if !here {
			t.Errorf("no scenario is named %s.txt", k)
		}
	}
}
