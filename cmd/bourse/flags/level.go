package flags

import (
	"fmt"

	"github.com/bourse-grid/bourse/policy/forecast"
)

// MaxDraws bounds the draws of one forecast.
const MaxDraws = 100_000

// Level returns the place in forecast.Levels of the share of starts that --level asks a band to
// hold.
func Level(percent int) (int, error) {
	at, ok := forecast.LevelOf(percent)
	if !ok {
		return 0, fmt.Errorf("--level %d: must be 50, 80, 90 or 95, the share of the starts in %% that the band is to hold", percent)
	}
	return at, nil
}
