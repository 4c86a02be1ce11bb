package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse"
)

// Printed is what Slurm's commands print about a cluster.
type Printed struct {
	At           bourse.Time // before the first command was run
	Jobs         []byte      // squeue --all --states=all --json
	Nodes        []byte      // sinfo --all -N --json
	Reservations []byte      // scontrol show res -o
	Partitions   []byte      // sinfo --all --noheader --format=%R|%l
}

// Look asks a cluster for its nodes, jobs and reservations, at the same time. It needs no
// rights. What the cluster hides from others (PrivateData) is not seen.
func Look(ctx context.Context, c Commands) (*bourse.Look, error) {
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
		{&p.Partitions, []string{"sinfo", "--all", "--noheader", "--format=%R|%l"}},
	}
	failed := make([]error, len(calls))
	var done sync.WaitGroup
	for i, call := range calls {
		done.Go(func() { *call.into, failed[i] = c.Run(ctx, call.args[0], call.args[1:]...) })
	}
	done.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func wallClock() bourse.Time { return bourse.Time(time.Now().UnixMilli()) }

// Read makes a look from what was printed.
func (p *Printed) Read() (*bourse.Look, error) {
	look := &bourse.Look{At: p.At, Source: "slurm"}
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
	if look.Partitions, err = readPartitions(p.Partitions); err != nil {
		return nil, fmt.Errorf("sinfo: %w", err)
	}
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
func readReservations(text []byte) ([]bourse.ManagedReservation, error) {
	var out []bourse.ManagedReservation
	for line := range strings.Lines(string(text)) {
		rec := parseRecord(line)
		name, ok := rec["ReservationName"]
		if !ok {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "No reservations") {
				continue
			}
			return nil, fmt.Errorf("a line without ReservationName: %.80q", line)
		}
		r := bourse.ManagedReservation{Name: name, Users: commas(rec["Users"])}
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
	slices.SortStableFunc(out, func(a, b bourse.ManagedReservation) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
