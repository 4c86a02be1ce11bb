package workload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// Outage is a time during which nodes of a group are out of service.
type Outage struct {
	Group string
	Nodes int // at least 1
	From  grid.Time
	For   grid.Duration // above 0
	Line  int           // of the file, from 1
}

// OutagesHead is the first line of a file of outages.
const OutagesHead = "group,nodes,from,to"

// maxOutages bounds the lines of a file of outages.
const maxOutages = 1_000_000

// ParseOutages reads a file of outages: the line OutagesHead, then a line for each outage, in
// any order. Times are seconds or durations such as 6h after the scenario's zero. Empty lines
// and lines that begin with "#" are skipped. An error names the file and the line.
func ParseOutages(file string, text []byte) ([]Outage, error) {
	var list []Outage
	headed, n := false, 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case !headed && line != OutagesHead:
			return nil, fmt.Errorf("%s:%d: %q: the first line must be %s", file, n, line, OutagesHead)
		case !headed:
			headed = true
		case len(list) == maxOutages:
			return nil, fmt.Errorf("%s:%d: more than %d outages", file, n, maxOutages)
		default:
			o, err := parseOutage(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			o.Line = n
			list = append(list, o)
		}
	}
	if !headed {
		return nil, fmt.Errorf("%s: is empty; must have the line %s, then a line for each outage", file, OutagesHead)
	}
	return list, nil
}

func parseOutage(line string) (o Outage, err error) {
	words := strings.Split(line, ",")
	if len(words) != 4 {
		return o, fmt.Errorf("%q: must be %s, such as main,4,6h,8h", line, OutagesHead)
	}
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	o.Group = words[0]
	if o.Nodes, err = strconv.Atoi(words[1]); err != nil || o.Nodes < 1 {
		return o, fmt.Errorf("nodes %q: must be a whole number from 1", words[1])
	}
	var to grid.Time
	if o.From, err = outageTime(words[2]); err != nil {
		return o, fmt.Errorf("from %w", err)
	}
	if to, err = outageTime(words[3]); err != nil {
		return o, fmt.Errorf("to %w", err)
	}
	if to <= o.From {
		return o, fmt.Errorf("to %q is not after from %q", words[3], words[2])
	}
	o.For = to.Sub(o.From)
	return o, nil
}

// outageTime reads an instant after the scenario's zero.
func outageTime(s string) (grid.Time, error) {
	if t, err := grid.ParseTime(s); err == nil && t >= 0 {
		return t, nil
	}
	if d, err := grid.ParseDuration(s); err == nil && d >= 0 {
		return grid.Time(d), nil
	}
	return 0, fmt.Errorf("%q: must be seconds or a duration such as 6h, from 0", s)
}
