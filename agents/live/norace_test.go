//go:build !race

package live

// raceEnabled tells tests that they run several times slower.
const raceEnabled = false
