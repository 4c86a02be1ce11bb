package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// Bounds of a saved look.
const (
	maxLook     = 512 << 20 // bytes
	maxLookJobs = 1_000_000
	maxLookName = 4096 // bytes
	maxLookText = 4 << 20
)

// ReadLook reads a saved look of at most 512 MiB, "-" from standard input.
func ReadLook(name string, in io.Reader) (*grid.Look, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxLook+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxLook:
		return nil, fmt.Errorf("%s: too large for a snapshot; must be at most %d MiB", name, maxLook>>20)
	}
	look, err := parseLook(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return look, nil
}

// lookLike shows the shape of a look in errors.
const lookLike = `{"at": 1760000000, "nodes": [...], "jobs": [...], "reservations": [...]}, as bourse snapshot writes it`

// parseLook reads a look. An error names the place, such as jobs[2], the problem and the
// remedy.
func parseLook(text []byte) (*grid.Look, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, jsonError(text, err, lookLike)
	}
	top, err := readObject("", whole, "at", "source", "nodes", "jobs", "reservations", "partitions", "rules")
	if err != nil {
		return nil, err
	}
	look := &grid.Look{}
	top.value("at", "when it was taken, in seconds since 1970", func(v string) (err error) { look.At, err = grid.ParseTime(v); return })
	look.Source = top.text("source")
	if top.err != nil {
		return nil, top.err
	}
	if err := instants(look.At); err != nil {
		return nil, fmt.Errorf("at: %w", err)
	}
	if look.Nodes, err = members(top, "nodes", MaxNodes, checkNode); err == nil {
		if look.Jobs, err = members(top, "jobs", maxLookJobs, checkJob); err == nil {
			look.Reservations, err = members(top, "reservations", maxLookJobs, checkReservation)
		}
		if _, has := top.fields["partitions"]; err == nil && has { // older looks have none
			look.Partitions, err = members(top, "partitions", MaxNodes, checkPartition)
		}
		if raw, has := top.fields["rules"]; err == nil && has {
			look.Rules, err = readRules(raw)
		}
	}
	if err != nil {
		return nil, err
	}
	names := make(map[string]int, len(look.Nodes))
	for i := range look.Nodes {
		if first, twice := names[look.Nodes[i].Name]; twice {
			return nil, fmt.Errorf("nodes[%d]: %q is nodes[%d] too; node names must differ", i, look.Nodes[i].Name, first)
		}
		names[look.Nodes[i].Name] = i
	}
	return look, nil
}

// WriteLook writes a look in the form that ReadLook reads: empty lists are present.
func WriteLook(out io.Writer, look *grid.Look) error {
	whole := *look
	if whole.Nodes == nil {
		whole.Nodes = []grid.ManagedNode{}
	}
	if whole.Jobs == nil {
		whole.Jobs = []grid.ManagedJob{}
	}
	if whole.Reservations == nil {
		whole.Reservations = []grid.ManagedReservation{}
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(whole)
}

// members reads an array of a look. Its members may have known keys only.
func members[T any](o *object, key string, most int, check func(*T) error) ([]T, error) {
	raw, ok := o.fields[key]
	if !ok {
		return nil, fmt.Errorf("%q is missing; write \"%s\": [...]", key, key)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || list == nil {
		return nil, fmt.Errorf("%s: %s is not an array; write [...]", key, shown(raw))
	}
	if len(list) > most {
		return nil, fmt.Errorf("%s: has %d members; must be at most %d", key, len(list), most)
	}
	out := make([]T, len(list))
	for i, one := range list {
		if len(one) == 0 || one[0] != '{' {
			return nil, fmt.Errorf("%s[%d]: %s is not an object; write {...}", key, i, shown(one))
		}
		dec := json.NewDecoder(bytes.NewReader(one))
		dec.DisallowUnknownFields()
		err := dec.Decode(&out[i])
		if err == nil {
			err = check(&out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %s", key, i, strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	return out, nil
}

// readRules reads what the manager goes by.
func readRules(raw json.RawMessage) (*grid.ManagerRules, error) {
	var r *grid.ManagerRules
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("rules: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return r, nil
}

func checkNode(n *grid.ManagedNode) error {
	states := []grid.NodeState{grid.NodeUp, grid.NodeDrained, grid.NodeDown, grid.NodeUnknown}
	switch {
	case !slices.Contains(states, n.State):
		return fmt.Errorf("state %q is unknown; must be up, drained, down or unknown", n.State)
	case n.CPUs < 0 || n.Busy < 0 || n.Memory < 0 || n.GPUs < 0:
		return errors.New("cpus, busy, memory and gpus must be 0 or more")
	}
	return namesFit(append(slices.Concat(n.Features, n.Partitions), n.Name, n.GRES, n.GRESUsed), n.Name)
}

func checkJob(j *grid.ManagedJob) error {
	states := []grid.ManagedState{grid.ManagedPending, grid.ManagedHeld, grid.ManagedRunning, grid.ManagedEnded, grid.ManagedLost, grid.ManagedUnknown}
	switch {
	case !slices.Contains(states, j.State):
		return fmt.Errorf("state %q is unknown; must be pending, held, running, ended, lost or unknown", j.State)
	case j.Count < 0 || j.Count > MaxNodes:
		return fmt.Errorf("count %d: must be 0 to %d nodes", j.Count, MaxNodes)
	case j.Limit < 0:
		return fmt.Errorf("limit %v: must be 0 seconds or more", j.Limit)
	case j.CPUs < 0:
		return fmt.Errorf("cpus %d: must be 0 or more", j.CPUs)
	case j.Throttle < 0:
		return fmt.Errorf("throttle %d: must be 0 or more tasks", j.Throttle)
	case len(j.After) > MaxNodes:
		return fmt.Errorf("after: has %d members; must be at most %d", len(j.After), MaxNodes)
	case j.State == grid.ManagedPending && j.Count < 1:
		return errors.New("count 0: must be 1 or more for a waiting job")
	}
	if err := instants(j.Submit, j.Start, j.End, j.Begin, j.Eligible); err != nil {
		return err
	}
	for _, text := range []string{j.Dependency, j.Required} { // lists, which may be long
		if len(text) > maxLookText {
			return fmt.Errorf("%.20q... has %d bytes; must have at most %d", text, len(text), maxLookText)
		}
	}
	return namesFit(slices.Concat(j.Nodes, j.After, []string{j.Number, j.Name, j.User, j.Why, j.Partition, j.Reservation,
		j.Account, j.QOS, j.Features, j.Licences, j.GRES}), j.Number)
}

func checkPartition(p *grid.ManagedPartition) error {
	switch {
	case p.Limit < 0 || p.MaxNodes < 0 || p.Tier < 0:
		return errors.New("limit, maxNodes and tier must be 0 or more")
	}
	return namesFit([]string{p.Name, p.State, p.QOS}, p.Name)
}

func checkReservation(r *grid.ManagedReservation) error {
	if err := instants(r.Start, r.End); err != nil {
		return err
	}
	if r.End <= r.Start {
		return fmt.Errorf("end %v is not after start %v", r.End, r.Start)
	}
	return namesFit(append(slices.Concat(r.Nodes, r.Users), r.Name), r.Name)
}

// instants checks that times are within bounds; 0 means no time.
func instants(list ...grid.Time) error {
	for _, t := range list {
		if t < 0 || t > grid.MaxTime {
			return fmt.Errorf("time %v: must be seconds since 1970, 0 to %v", t, grid.MaxTime)
		}
	}
	return nil
}

// namesFit checks the lengths of names, and that the one required is not empty.
func namesFit(names []string, must string) error {
	if must == "" {
		return errors.New("the name is missing; write \"name\", or \"number\" for a job")
	}
	for _, n := range names {
		if len(n) > maxLookName {
			return fmt.Errorf("%.20q... has %d bytes; names must have at most %d", n, len(n), maxLookName)
		}
	}
	return nil
}
