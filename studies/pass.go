package studies

import "slices"

// The rows of a paper's study are made in two passes over the same code. The first, without
// outcomes, notes the settings that the rows ask for; the second has their outcomes.

// noted adds a setting to the list of a first pass, once.
func noted[K comparable](list []K, setting K) []K {
	if slices.Contains(list, setting) {
		return list
	}
	return append(list, setting)
}

// figuresOf returns one figure of each outcome.
func figuresOf[O any](outcomes []O, figure func(*O) float64) []float64 {
	values := make([]float64, len(outcomes))
	for i := range outcomes {
		values[i] = figure(&outcomes[i])
	}
	return values
}
