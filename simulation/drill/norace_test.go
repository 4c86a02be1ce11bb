//go:build !race && linux

package drill

const raceFlag = ""
