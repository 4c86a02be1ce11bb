package slurm

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
)

// readPartitions reads the partitions with their MaxTime, as sinfo prints them: a name and a
// limit on each line. It returns none if no partition has a limit. A sinfo that prints JSON
// whatever it is asked for, as a recorded one does, has told nothing about limits.
func readPartitions(text []byte) ([]bourse.ManagedPartition, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, nil
	}
	var out []bourse.ManagedPartition
	bounded := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n ")
		if line == "" {
			continue
		}
		name, limit, ok := strings.Cut(line, "|")
		if !ok || name == "" {
			return nil, fmt.Errorf("a line without a partition and its limit: %.80q", line)
		}
		longest, err := span(limit)
		if err != nil {
			return nil, fmt.Errorf("partition %s: %w", name, err)
		}
		if longest > bourse.MaxDuration {
			longest = 0
		}
		bounded = bounded || longest > 0
		if !slices.ContainsFunc(out, func(p bourse.ManagedPartition) bool { return p.Name == name }) {
			out = append(out, bourse.ManagedPartition{Name: name, Longest: longest})
		}
	}
	if !bounded {
		return nil, nil
	}
	slices.SortFunc(out, func(a, b bourse.ManagedPartition) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
