package world

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// No purpose but the three that seeds on record hold to shares a stream with another, and none
// is drawn from a stream without a name.
func TestStreams_ANewPurposeHasAStreamOfItsOwn(t *testing.T) {
	t.Parallel()
	own := map[int]string{}
	for i := range SiteNames {
		own[streamManager+i] = "streamManager"
	}
	for name, number := range map[string]int{"streamWorld": streamWorld, "streamPromises": streamPromises, "streamReplicas": streamReplicas, "streamLost": streamLost, "streamLegFaults": streamLegFaults, "streamOperators": streamOperators, "streamDiscovery": streamDiscovery,
		"streamMachineFaults": streamMachineFaults, "streamKinds": streamKinds, "streamNarrow": streamNarrow, "streamNarrowFaults": streamNarrowFaults, "streamLies": streamLies,
		"streamMirrors": streamMirrors, "streamPast": streamPast, "streamShares": streamShares, "streamWishes": streamWishes, "streamOffers": streamOffers, "streamDisks": streamDisks,
		"streamTerms": streamTerms, "streamTermsFaults": streamTermsFaults, "streamSilence": streamSilence, "streamFailures": streamFailures, "streamReloads": streamReloads, "streamSlices": streamSlices, "streamRelease": streamRelease,
		"streamPilots": streamPilots, "streamPilotSites": streamPilotSites, "streamPilotFaults": streamPilotFaults} {
		if other, taken := own[number]; taken {
			t.Errorf("%s and %s share stream %d", name, other, number)
		}
		own[number] = name
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "NewPCG" {
				return true
			}
			if _, literal := call.Args[1].(*ast.BasicLit); literal {
				t.Errorf("%s draws from a stream without a name; streams.go lists them", name)
			}
			return true
		})
	}
}
