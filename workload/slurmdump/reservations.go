package slurmdump

import (
	"strings"
	"time"

	"github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/workload"
)

// readReservations reads what scontrol show res -o prints.
func (c *Cluster) readReservations(name, text string, zone *time.Location) error {
	number := 0
	for l := range strings.SplitSeq(text, "\n") {
		number++
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "No reservations") {
			continue
		}
		e := entry{line{name, number, l}, pairs(l)}
		if len(e.pairs) == 0 || !strings.EqualFold(e.pairs[0].key, "ReservationName") {
			return e.fault("ReservationName", "the line must begin with it; print reservations on one line each: scontrol show res -o")
		}
		r := slurm.Reservation{Name: e.pairs[0].value}
		start, _ := e.get("StartTime")
		end, _ := e.get("EndTime")
		var ok bool
		if r.Start, ok = workload.Instant(start, zone); !ok {
			return e.fault("StartTime", "%.40q is no time; must be as 2026-01-31T12:00:00", start)
		}
		if r.End, ok = workload.Instant(end, zone); !ok {
			return e.fault("EndTime", "%.40q is no time; must be as 2026-01-31T12:00:00", end)
		}
		if r.End <= r.Start {
			return e.fault("EndTime", "%s is not after StartTime %s", end, start)
		}
		list, _ := e.get("Nodes")
		var err error
		if r.Nodes, err = c.set(list, nil); err != nil {
			return e.fault("Nodes", "%v", err)
		}
		if flags, _ := e.get("Flags"); strings.Contains(flags, "DAILY") || strings.Contains(flags, "WEEKLY") || strings.Contains(flags, "HOURLY") {
			c.note("reservation %s comes again; only the one of %s counts", r.Name, start)
		}
		if len(c.Reservations) >= maxReservations {
			return e.fault("ReservationName", "there are more than %d reservations", maxReservations)
		}
		c.reservation[r.Name] = len(c.Reservations)
		c.Reservations = append(c.Reservations, r)
	}
	return nil
}

// maxReservations bounds the reservations of a cluster.
const maxReservations = 10_000
