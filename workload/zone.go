package workload

import (
	"errors"
	"time"
	_ "time/tzdata" // zones, also where the machine knows none
)

// ParseZone returns the zone of a name such as Europe/Berlin, UTC, or Local for that of this
// machine.
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errors.New("unknown time zone; must be a name such as Europe/Berlin or UTC")
	}
	return zone, nil
}

// HasZone reports whether a trace of that format may have times that name no zone.
func HasZone(format string) bool {
	return format == FormatSacct || format == FormatCSV || format == FormatParquet
}
