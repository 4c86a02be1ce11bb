package batsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// event is what happened, or a decision.
type event struct {
	Timestamp json.Number `json:"timestamp"`
	Type      string      `json:"type"`
	Data      any         `json:"data"`
}

// message goes to the scheduler.
type message struct {
	Now    json.Number `json:"now"`
	Events []event     `json:"events"`
}

// answer comes back.
type answer struct {
	Now    float64 `json:"now"`
	Events []struct {
		Timestamp float64         `json:"timestamp"`
		Type      string          `json:"type"`
		Data      json.RawMessage `json:"data"`
	} `json:"events"`
}

// seconds is an instant as JSON, always with a decimal point, as Batsim writes it.
func seconds(t grid.Time) json.Number {
	s := t.String()
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return json.Number(s)
}

// instant is a time of the scheduler's, up to the next millisecond.
func instant(s float64) (grid.Time, error) {
	ms := math.Ceil(s*1000 - 1e-6) // what is a whole number but for the form stays one
	if !(ms >= -float64(grid.MaxTime) && ms <= float64(grid.MaxTime)) {
		return 0, fmt.Errorf("the time %v is not within 10^10 s", s)
	}
	return grid.Time(ms), nil
}

// workload is the name of the only workload, and profile of the only profile, which says nothing:
// its delay is -1. Schedulers of pybatsim die of a profile of that type without one.
const workload, profile = "w0", "opaque"

func nameOf(id int64) string { return workload + "!" + strconv.FormatInt(id, 10) }

// idOf is the number of a job by its name.
func idOf(name string) (int64, error) {
	number, ok := strings.CutPrefix(name, workload+"!")
	id, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("job %.100q is unknown; names are such as %s!7", name, workload)
	}
	return id, nil
}

// begins is the data of SIMULATION_BEGINS.
func begins(nodes int, log string) map[string]any {
	machines := make([]map[string]any, nodes)
	for i := range machines {
		machines[i] = map[string]any{"id": i, "name": "node" + strconv.Itoa(i), "state": "idle", "properties": map[string]string{}, "zone_properties": map[string]string{}}
	}
	return map[string]any{
		"nb_resources": nodes, "nb_compute_resources": nodes, "nb_storage_resources": 0,
		"allow_compute_sharing": false, "allow_storage_sharing": false, "allow_time_sharing": false,
		"config": map[string]any{
			"redis-enabled": false, "redis-hostname": "127.0.0.1", "redis-port": 6379, "redis-prefix": "default",
			"profiles-forwarded-on-submission": false, "dynamic-jobs-enabled": false, "dynamic-jobs-acknowledged": false,
			"profile-reuse-enabled": false, "forward-unknown-events": false, "sched-config": "",
		},
		"compute_resources": machines, "storage_resources": []any{}, "resources_data": machines,
		"workloads": map[string]string{workload: log},
		"profiles":  map[string]any{workload: map[string]any{profile: map[string]any{"type": "delay", "delay": -1}}},
	}
}

// parse reads one JSON value; known says that no other keys may be there.
func parse(text []byte, to any, known bool) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if known {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
