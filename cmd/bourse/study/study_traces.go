package study

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/workload"
)

// archived is a log of the Parallel Workloads Archive as a study uses it.
type archived struct {
	name, archive string // in the rows; in the archive
	nodes         int    // processors
	skip          int    // records at the beginning to leave out
	partition     int    // take only its jobs; 0: all
}

// archivedLog is such a log with its records.
type archivedLog struct {
	archived
	trace *workload.Trace
}

// logs reads the given traces as those that a study takes, in its order, and says which
// rows are left out.
func (s *studying) logs(takes []archived) ([]archivedLog, error) {
	if len(s.traces) > len(takes) {
		var names []string
		for _, a := range takes {
			names = append(names, a.archive)
		}
		return nil, fmt.Errorf("--trace %s: the study takes %d traces, %s; %d given", s.traces[len(takes)], len(takes), strings.Join(names, ", "), len(s.traces))
	}
	var list []archivedLog
	for i, a := range takes {
		if i >= len(s.traces) {
			s.say("no --trace for %s given: its rows are left out", a.archive)
			continue
		}
		trace, err := s.open(s.traces[i], a.skip)
		if err != nil {
			return nil, err
		}
		if trace, err = onePartition(trace, a.partition); err != nil {
			return nil, err
		}
		without := ""
		if a.skip > 0 {
			without = fmt.Sprintf(", without its first %d records", a.skip)
		}
		s.say("%s: read as %s on %d processors%s", s.traces[i], a.archive, a.nodes, without)
		list = append(list, archivedLog{a, trace})
	}
	return list, nil
}

// open reads a trace without its first records, and reports its problems.
func (s *studying) open(file string, skip int) (*workload.Trace, error) {
	trace, err := workload.Open(file, workload.Options{Skip: skip})
	if err != nil {
		return nil, err
	}
	for _, remark := range trace.Remarks() {
		s.say("%s", remark)
	}
	if why := trace.Useless(); why != "" {
		return nil, fmt.Errorf("%s: %s", file, why)
	}
	return trace, nil
}

// onePartition returns a partition of a trace; 0: the whole trace.
func onePartition(t *workload.Trace, partition int) (*workload.Trace, error) {
	if partition == 0 {
		return t, nil
	}
	for _, p := range t.Partitions() {
		if p.Number == int64(partition) {
			return p.Trace, nil
		}
	}
	return nil, fmt.Errorf("%s has no records of partition %d", t.Name, partition)
}
