package slurmdump

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// span reads a length of time as Slurm's files have it: a number of units, MM:SS, HH:MM:SS,
// D-HH, D-HH:MM, D-HH:MM:SS, "30 sec"; or as Bourse has it, "2h". Words for no bound give
// grid.MaxDuration.
func span(text string, unit grid.Duration) (grid.Duration, error) {
	text = strings.TrimSpace(text)
	if isUnlimited(text) {
		return grid.MaxDuration, nil
	}
	if n, word, ok := strings.Cut(text, " "); ok {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "sec", "secs", "second", "seconds":
			text, unit = n, grid.Second
		case "min", "mins", "minute", "minutes":
			text, unit = n, grid.Minute
		}
	}
	wrong := fmt.Errorf("%.40q is no length of time; must be as 30, 1:30:00 or 2-12:00:00", text)
	days, clock, dashed := strings.Cut(text, "-")
	if !dashed && !strings.Contains(text, ":") {
		if n, err := strconv.ParseInt(text, 10, 40); err == nil {
			if n < 0 || n > int64(grid.MaxDuration/unit) {
				return 0, wrong
			}
			return grid.Duration(n) * unit, nil
		}
		d, err := grid.ParseDuration(text)
		if err != nil {
			return 0, wrong
		}
		return d, nil
	}
	var total int64
	units := []int64{3600, 60, 1}
	if dashed {
		n, err := strconv.ParseInt(days, 10, 24)
		if err != nil || n < 0 {
			return 0, wrong
		}
		total = n * 86400
	} else {
		clock = text
	}
	parts := strings.Split(clock, ":")
	if len(parts) == 2 && !dashed {
		units = units[1:]
	}
	if len(parts) > len(units) {
		return 0, wrong
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 24)
		if err != nil || n < 0 {
			return 0, wrong
		}
		total += n * units[i]
	}
	return min(grid.Duration(total)*grid.Second, grid.MaxDuration), nil
}

// isUnlimited reports whether a word says that there is no bound.
func isUnlimited(text string) bool {
	switch strings.ToUpper(text) {
	case "UNLIMITED", "INFINITE", "NONE", "-1", "4294967295", "N/A", "(NULL)":
		return true
	}
	return false
}

// whole reads a whole number from low on; words for no bound give slurm.Unlimited.
func whole(text string, low int) (int, error) {
	if isUnlimited(text) && low > -1 {
		return slurm.Unlimited, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < int64(low) {
		return 0, fmt.Errorf("%.40q is no whole number from %d on", text, low)
	}
	return int(min(n, slurm.Unlimited)), nil
}

// big reads a whole number from 0 to 2^32 - 1.
func big(text string) (int64, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no whole number from 0 to 4294967295", text)
	}
	return int64(n), nil
}

// yes reads Yes or No.
func yes(text string) (bool, error) {
	switch strings.ToUpper(strings.TrimSpace(text)) {
	case "YES", "UP", "TRUE", "1":
		return true, nil
	case "NO", "DOWN", "FALSE", "0":
		return false, nil
	}
	return false, fmt.Errorf("%.40q must be YES or NO", text)
}

// tres reads "cpu=4,mem=10G,node=2": the bounds of nodes and CPUs; others are passed over.
func tres(text string, nodes, cpus *int) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		var to *int
		switch strings.ToLower(name) {
		case "node":
			to = nodes
		case "cpu":
			to = cpus
		default:
			continue
		}
		n, err := whole(value, 0)
		if err != nil {
			return err
		}
		*to = n
	}
	return nil
}
