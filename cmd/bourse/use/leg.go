package use

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/web/api"
)

// legChoice says which leg of a job is meant, or which part of a job of parts.
type legChoice struct {
	leg    int
	part   string // as it was given: a name, or the number of a leg
	chosen bool   // by a flag
}

// addFlags adds the flags.
func (l *legChoice) addFlags(cmd *cobra.Command) {
	flags.AddFlag(cmd, &l.leg, flags.AsNumber, "leg", 0, "leg of the job, from 0 (default: all legs in turn)")
	flags.AddFlag(cmd, &l.part, flags.AsName, "part", "", "the legs of that part, of a job of parts; a number is the same as --leg")
	cmd.MarkFlagsMutuallyExclusive("leg", "part")
}

// check checks the flags.
func (l *legChoice) check(cmd *cobra.Command) error {
	l.chosen = cmd.Flags().Changed("leg") || cmd.Flags().Changed("part")
	if n, err := strconv.Atoi(l.part); err == nil {
		l.leg, l.part = n, ""
	}
	if l.leg < 0 || l.leg > 10_000 {
		return fmt.Errorf("--leg %d: must be 0 to 10,000", l.leg)
	}
	return nil
}

// legs are the chosen legs of a job, at least one: without any the broker says why.
func (l *legChoice) legs(j *api.Job) ([]int, error) {
	var list []int
	switch {
	case l.part == "" && l.chosen:
		return []int{l.leg}, nil
	case len(j.Legs) == 0:
		return []int{0}, nil
	}
	var parts []string
	for k := range j.Legs {
		if l.part == "" || j.Legs[k].Part == l.part {
			list = append(list, k)
		}
		if part := j.Legs[k].Part; part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	switch {
	case len(list) > 0:
		return list, nil
	case len(parts) == 0:
		return nil, flags.Misuse(fmt.Errorf("--part %s: %s has no parts; choose a leg by --leg 0 to --leg %d", l.part, j.ID, len(j.Legs)-1))
	}
	return nil, flags.Misuse(fmt.Errorf("--part %s: %s has no such part; it has %s", l.part, j.ID, strings.Join(parts, ", ")))
}

// titleOf is a leg among several.
func titleOf(j *api.Job, leg int) string {
	l := &j.Legs[leg]
	if l.Part != "" {
		return fmt.Sprintf("leg %d, part %s, on %s", leg, l.Part, l.Site)
	}
	return fmt.Sprintf("leg %d, on %s", leg, l.Site)
}
