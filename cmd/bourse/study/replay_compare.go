package study

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload"
)

// comparedAnswer is what replay --compare prints as JSON.
type comparedAnswer struct {
	First    string         `json:"first"`
	Compared []comparedWith `json:"compared"`
}

// comparedWith is how the schedule of one policy differs from the first.
type comparedWith struct {
	Second          string            `json:"second"`
	Jobs            int               `json:"jobs"` // that ran in both
	Wait            simulation.Paired `json:"wait"`
	BoundedSlowdown simulation.Paired `json:"boundedSlowdown"`
}

// mostCompared bounds the policies of one comparison: all schedules are kept.
const mostCompared = 20

// comparedPolicies reads "easy,conservative,order=max(1, wait)": policies separated by commas
// outside brackets, and orders under EASY.
func comparedPolicies(s string) ([]backfill.Policy, error) {
	var list []backfill.Policy
	seen := map[string]bool{}
	for _, name := range outsideBrackets(s) {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, "order=") || strings.HasPrefix(name, "backfill_order=") {
			name = backfill.EASY.String() + " " + name
		}
		p, err := backfill.ParsePolicy(name)
		if err != nil {
			return nil, err
		}
		if seen[p.String()] {
			return nil, fmt.Errorf("%s is there twice", p)
		}
		seen[p.String()] = true
		list = append(list, p)
	}
	if len(list) < 2 || len(list) > mostCompared {
		return nil, fmt.Errorf("must be 2 to %d policies, such as easy,conservative,order=wfp3; the others are compared with the first", mostCompared)
	}
	return list, nil
}

// outsideBrackets splits a text at the commas outside brackets.
func outsideBrackets(s string) (parts []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			parts, from = append(parts, s[from:i]), i+1
		}
	}
	return append(parts, s[from:])
}

// compared replays the trace under each of the policies and prints how the others differ from
// the first.
func (r *replay) compared(file string, opt simulation.ReplayOptions, read workload.JobOptions, out, messages io.Writer) error {
	policies, err := comparedPolicies(r.compare)
	switch {
	case err != nil:
		return fmt.Errorf("--compare: %w", err)
	case r.jobsOut != "" || r.timing:
		return errors.New("--jobs-out and --timing are about one schedule; leave them out, or --compare")
	case r.halfLife != 0:
		err = fmt.Errorf("--half-life %s: has no effect without a policy by usage in --compare", r.halfLife.Words())
		for _, p := range policies {
			if p.ByOwner() {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	trace, err := workload.Open(file, workload.Options{Strict: r.strict, Skip: r.skip, Format: r.from, Zone: r.zone})
	if err != nil {
		return err
	}
	if err := r.size(&opt, file, &trace.Header, messages); err != nil {
		return err
	}
	jobs, tally := trace.Jobs(read)
	if len(jobs) == 0 {
		return r.noJobs(file, trace, len(trace.Records), tally, messages)
	}
	type run struct {
		*simulation.Replay
		err error
	}
	var runs []*simulation.Replay
	err = parallel.Do(len(policies), func() func(int) run {
		return func(i int) run {
			of := opt
			if of.Policy = policies[i]; !of.Policy.ByOwner() {
				of.HalfLife = 0
			}
			done, err := simulation.RunReplay(jobs, of)
			return run{done, err}
		}
	}, func(i int, done run) error {
		if done.err != nil {
			return fmt.Errorf("%v: %w", policies[i], done.err)
		}
		runs = append(runs, done.Replay)
		return nil
	})
	if over := (*simulation.OverloadError)(nil); errors.As(err, &over) {
		return failure.Of(fmt.Errorf("%s: %w", file, err))
	} else if err != nil {
		return err
	}
	counts := runs[0].Counts
	for _, x := range runs {
		counts.NoNumber = max(counts.NoNumber, x.NoNumber)
	}
	r.tell(messages, file, trace, tally, counts)
	answer := differences(policies, runs)
	if r.json {
		return failure.Of(flags.WriteJSON(out, answer))
	}
	return failure.Of(errors.Join(answer.print(out), r.oneSeed(out)))
}

// oneSeed says that intervals over weeks do not cover what a seed has drawn, if it draws.
func (r *replay) oneSeed(out io.Writer) error {
	if r.copy == 0 && r.reservations == 0 {
		return nil
	}
	return paragraph(out, "What --copy and --reservations draw is that of one seed, which the intervals do not cover; repeat it with another --seed.")
}

// differences compares each run with the first.
func differences(policies []backfill.Policy, runs []*simulation.Replay) comparedAnswer {
	answer := comparedAnswer{First: policies[0].String()}
	for i := 1; i < len(runs); i++ {
		x := comparedWith{Second: policies[i].String()}
		x.Wait, x.BoundedSlowdown, x.Jobs = simulation.Differences(runs[0], runs[i])
		answer.Compared = append(answer.Compared, x)
	}
	return answer
}

func (a *comparedAnswer) print(out io.Writer) error {
	t := report.NewTable("<policy", "jobs", "mean wait, s", "less first", "bounded slowdown", "less first", "weeks")
	first := a.Compared[0]
	t.AppendRow([]any{a.First, first.Jobs, fmt.Sprintf("%.1f", first.Wait.First), "", fmt.Sprintf("%.2f", first.BoundedSlowdown.First), "", first.Wait.Weeks})
	for _, x := range a.Compared {
		t.AppendRow([]any{x.Second, x.Jobs, fmt.Sprintf("%.1f", x.Wait.Second), interval(x.Wait, 0), fmt.Sprintf("%.2f", x.BoundedSlowdown.Second), interval(x.BoundedSlowdown, 2), x.Wait.Weeks})
	}
	_, err := fmt.Fprintf(out, "%s\n\n%s\n", t.Render(), "Over the jobs that ran under both. ± is the half width of a 95 % interval over the\nweeks of the log: what other weeks of the same machine and users might have shown.")
	return err
}

// interval is a difference with its interval, and * if 0 is outside.
func interval(p simulation.Paired, decimals int) string {
	if p.CI95 == nil {
		return fmt.Sprintf("%+.*f (no interval: %d weeks)", decimals, p.Difference, p.Weeks)
	}
	mark := ""
	if math.Abs(p.Difference) > *p.CI95 {
		mark = " *"
	}
	return fmt.Sprintf("%+.*f ± %.*f%s", decimals, p.Difference, decimals, *p.CI95, mark)
}
