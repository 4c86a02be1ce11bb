package study

import (
	"fmt"

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
	files, err := s.placed(takes)
	if err != nil {
		return nil, err
	}
	var list []archivedLog
	for i, a := range takes {
		if files[i].path == "" {
			s.say("no --trace for %s given: its rows are left out", a.archive)
			continue
		}
		trace, err := s.open(files[i].path, a.skip)
		if err != nil {
			return nil, err
		}
		if trace, err = onePartition(trace, a.partition); err != nil {
			return nil, err
		}
		more := ""
		if a.skip > 0 {
			more = fmt.Sprintf(", without its first %d records", a.skip)
		}
		if files[i].of != "" && files[i].of != a.archive {
			more += "; it seems to be the log of " + files[i].of
		}
		s.say("%s: read as %s on %d processors%s", files[i].path, a.archive, a.nodes, more)
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
