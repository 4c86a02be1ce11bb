package main

import (
	"testing"

	"bourse/web"
)

// Instants in an agent's words are shown as the times beside them are.
func TestExplain_ShowsInstantsInReasonsAsItShowsOthers(t *testing.T) {
	t.Parallel()
	if got, want := web.Dated("  with no west: not placed, at most 2400 nodes are free from 1795226481.773 on", timeOfDay),
		"  with no west: not placed, at most 2400 nodes are free from Nov 21 02:01:21Z on"; got != want {
		t.Errorf("shown as %q, want %q", got, want)
	}
}
