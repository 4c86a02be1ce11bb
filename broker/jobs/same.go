package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Same reports whether two jobs are the same but for when they were submitted.
func Same(a, b *grid.Job) bool {
	return a.Name == b.Name && a.User == b.User && a.Priority == b.Priority && a.Run == b.Run && a.Exit == b.Exit &&
		slices.Equal(a.After, b.After) && a.Array.Same(b.Array) && a.Gap == b.Gap && a.Work.Same(b.Work) && SameRequest(&a.Request, &b.Request)
}

// SameRequest reports whether two requests ask for the same.
func SameRequest(a, b *grid.Request) bool {
	x, y := &a.Require, &b.Require
	return a.Nodes == b.Nodes && a.Portion == b.Portion && a.Length == b.Length && a.MinPerformance == b.MinPerformance &&
		a.MaxPrice == b.MaxPrice && a.Budget == b.Budget && a.Ready == b.Ready && a.Deadline == b.Deadline && a.OneSite == b.OneSite &&
		a.Flexible == b.Flexible && a.Fix == b.Fix && a.Phi == b.Phi && slices.Equal(a.Sizes, b.Sizes) &&
		a.Minimize == b.Minimize && a.Urgency == b.Urgency && x.Same(y) &&
		slices.Equal(a.Sites, b.Sites) && slices.Equal(a.Avoid, b.Avoid) && a.Together == b.Together && a.Apart == b.Apart && grid.SameParts(a.Parts, b.Parts)
}
