package managed

import "github.com/bourse-grid/bourse/grid"

// Blind reports whether the resource manager has not been seen for so long that nothing can
// be placed there. A life that has just begun has not seen it yet, and is blind too.
func (b *Backend) Blind(now grid.Time) bool { return !b.fresh(now) }
