package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// Printed is what Slurm's commands print about a cluster.
type Printed struct {
	At           grid.Time // before the first command was run
	Jobs         []byte    // squeue --all --states=all --json
	Nodes        []byte    // sinfo --all -N --json
	Reservations []byte    // scontrol show res -o
	Partitions   []byte    // scontrol show partition -o; what cannot be read of it is left out
}

// Look asks a cluster for its nodes, jobs and reservations, at the same time. It needs no
// rights. What the cluster hides from others (PrivateData) is not seen.
func Look(ctx context.Context, c Commands) (*grid.Look, error) {
	p, err := Print(ctx, c)
	if err != nil {
		return nil, err
	}
	return p.Read()
}

// Print asks a cluster as Look does.
func Print(ctx context.Context, c Commands) (*Printed, error) {
	p := &Printed{At: wallClock()}
	calls := []struct {
		into *[]byte
		args []string
	}{
		{&p.Jobs, []string{"squeue", "--all", "--states=all", "--json"}},
		{&p.Nodes, []string{"sinfo", "--all", "-N", "--json"}},
		{&p.Reservations, []string{"scontrol", "show", "res", "-o"}},
		{&p.Partitions, []string{"scontrol", "show", "partition", "-o"}},
	}
	failed := make([]error, len(calls))
	var done sync.WaitGroup
	for i, call := range calls {
		done.Go(func() { *call.into, failed[i] = c.Run(ctx, call.args[0], call.args[1:]...) })
	}
	done.Wait()
	for i, err := range failed {
		if err != nil && calls[i].into != &p.Partitions {
			return nil, err
		}
	}
	return p, nil
}

func wallClock() grid.Time { return grid.Time(time.Now().UnixMilli()) }

// Read makes a look from what was printed.
func (p *Printed) Read() (*grid.Look, error) {
	look := &grid.Look{At: p.At, Source: "slurm"}
	var version string
	var err error
	if look.Nodes, version, err = readNodes(p.Nodes); err != nil {
		return nil, fmt.Errorf("sinfo: %w", err)
	}
	if version != "" {
		look.Source += " " + version
	}
	if look.Jobs, err = readJobs(p.Jobs); err != nil {
		return nil, fmt.Errorf("squeue: %w", err)
	}
	if look.Reservations, err = readReservations(p.Reservations); err != nil {
		return nil, fmt.Errorf("scontrol show res: %w", err)
	}
	look.Partitions = readPartitions(p.Partitions)
	Settle(look)
	return look, nil
}

// header is the beginning of the JSON of every command.
type header struct {
	Meta struct {
		Slurm struct {
			Release string `json:"release"`
		} `json:"slurm"` // "Slurm" in older versions
	} `json:"meta"`
	Errors []struct {
		Error       string `json:"error"`
		Description string `json:"description"`
	} `json:"errors"`
}

// failed is the error that a command reports in its own JSON.
func (h *header) failed() error {
	if len(h.Errors) == 0 {
		return nil
	}
	e := h.Errors[0]
	return fmt.Errorf("%s", cmp.Or(e.Error, e.Description, "an error without words"))
}

// readReservations reads what scontrol show res -o prints, a line for each.
func readReservations(text []byte) ([]grid.ManagedReservation, error) {
	var out []grid.ManagedReservation
	for line := range strings.Lines(string(text)) {
		rec := parseRecord(line)
		name, ok := rec["ReservationName"]
		if !ok {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "No reservations") {
				continue
			}
			return nil, fmt.Errorf("a line without ReservationName: %.80q", line)
		}
		r := grid.ManagedReservation{Name: name, Users: commas(rec["Users"])}
		var err error
		if r.Start, err = rec.time("StartTime"); err != nil {
			return nil, fmt.Errorf("reservation %s: %w", name, err)
		}
		if r.End, err = rec.time("EndTime"); err != nil {
			return nil, fmt.Errorf("reservation %s: %w", name, err)
		}
		if r.Nodes, err = Hosts(rec["Nodes"]); err != nil {
			return nil, fmt.Errorf("reservation %s: %w", name, err)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b grid.ManagedReservation) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// readPartitions reads what scontrol show partition -o prints, a line for each. What is no such
// line is left out: the partitions of the look then count as up.
func readPartitions(text []byte) []grid.ManagedPartition {
	var out []grid.ManagedPartition
	for line := range strings.Lines(string(text)) {
		rec := parseRecord(line)
		p := grid.ManagedPartition{Name: rec["PartitionName"], State: strings.ToLower(rec["State"]), Default: rec["Default"] == "YES", QOS: none(rec["QoS"])}
		if p.Name == "" || p.State == "" {
			continue
		}
		if limit, err := span(rec["MaxTime"]); err == nil {
			p.Limit = limit
		}
		p.MaxNodes, _ = strconv.Atoi(rec["MaxNodes"]) // UNLIMITED: 0
		p.Tier, _ = strconv.Atoi(rec["PriorityTier"])
		p.MaxNodes, p.Tier = max(p.MaxNodes, 0), max(p.Tier, 0)
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b grid.ManagedPartition) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
