package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"

	"github.com/spf13/pflag"
)

// An error names the flag, the value and what would be right, for each kind of flags.
func TestFlag_ABadValueIsNamedWithTheFlagAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	const quote = "quote site.toml --nodes 1 --duration 1h "
	for args, want := range map[string]string{
		"quote site.toml --nodes 1 --duration soon": `--duration: duration "soon" is not a number; write 90, 90s, 30m, 2h or 1d`,
		"quote site.toml --nodes 1 --duration 0s":   `--duration: duration "0s": must be above 0`,
		"plan p.json --budget lots":                 `--budget: amount "lots" is not a number; must be 0..1000000000000 credits`,
		"plan p.json --minimize fun":                `--minimize: goal "fun" is unknown; must be time, cost or finish`,
		quote + "--price cheap":                     `--price: price "cheap" is not a number; must be 0..1000000 credits per node-hour`,
		quote + "--start noon":                      `--start "noon": must be an instant in seconds, such as 3600, or a span since zero, such as 1h`,
		quote + "--alpha 2":                         `--alpha: alpha "2" is not a number from 0 to 1 with at most six decimals, such as 0.5`,
		quote + "--policy best":                     `--policy: policy "best" is unknown; must be ` + names.Or(names.Of(backfill.Policies())),
		"search p.json --algorithm slow":            `--algorithm: algorithm "slow" is unknown; must be ` + names.Or(names.Of(search.Algorithms())),
		"search p.json --weights speed=1":           `--weights "speed=1": "speed" is unknown; must be time, cost or finish, such as time=1,cost=0.3`,
		"modify wave --fix all":                     `--fix: performance "all" is not a number; must be 0.001..`,
		"modify wave --ready tomorrow":              `--ready "tomorrow": must be a span from now, such as 90s, 30m, 2h or 1d, or a time such as 2026-03-01T12:00:00Z`,
		"accounts statement --from march":           `--from "march": must be an instant, such as 2026-03-01T00:00:00Z`,
		"forecast --slurm --priority high":          `--priority: priority "high": must be last, first, or a whole number of 0 or more`,
		"report out --figures pdf":                  `--figures "pdf": must be svg or png`,
		"sweep plan s.toml --engine pbs":            `--engine "pbs": must be slurm or kubernetes`,
		"submit b.toml --wait=ended":                `--wait "ended": must be placed or done`,
		"replay x --procs=four":                     `--procs "four": must be a whole number`,
		"simulate --runs=1e99":                      `--runs "1e99": must be a whole number`,
		"simulate --seed=-1":                        `--seed "-1": must be a whole number of 0 or more`,
		"simulate --seed=99999999999999999999":      `--seed "99999999999999999999": must be a whole number of 0 or more that fits in 64 bits`,
		"replay x --days=a":                         `--days "a": must be a number`,
		"simulate --json=perhaps":                   `--json "perhaps": must be true or false`,
		"simulate --sead=1":                         `unknown flag: --sead; see bourse simulate --help`,
	} {
		if _, said, code := workloadCommand(strings.Fields(args)...); code != 2 || !strings.HasPrefix(said, want) {
			t.Errorf("%s: exit %d, %q, want %q", args, code, said, want)
		}
	}
}

// The help shows what a flag takes, never the type of a variable.
func TestFlag_EveryOneHasAKind(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(newRoot()) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if regexp.MustCompile(`^(u?int|float|string)`).MatchString(f.Value.Type()) {
				t.Errorf("%s --%s takes a %q", c.CommandPath(), f.Name, f.Value.Type())
			}
		})
	}
}

// A command that a help shows can be given as it stands there.
func TestHelp_ExamplesParse(t *testing.T) {
	t.Parallel()
	words := regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)
	for _, c := range everyCommand(newRoot()) {
		if c.GroupID == "other" && c.Name() != "version" {
			continue // cobra's own
		}
		if c.Example == "" && c.Runnable() && !c.Hidden && !strings.HasPrefix(c.CommandPath(), "bourse completion") {
			t.Errorf("%s has no example", c.CommandPath())
		}
		own := c.Example == ""
		for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", "")) {
			for call := range strings.SplitSeq(strings.ReplaceAll(line, " && ", " | "), " | ") {
				args := words.FindAllString(call, -1)
				if i := slices.IndexFunc(args, func(w string) bool { return w == "#" || w == ">" }); i >= 0 {
					args = args[:i]
				}
				if i := slices.Index(args, "bourse"); i < 0 {
					continue
				} else if args = args[i+1:]; len(args) == 0 {
					continue
				}
				for i := range args {
					args[i] = strings.Trim(args[i], `"'`)
				}
				found, rest, err := newRoot().Find(args)
				if err == nil {
					if err = found.ParseFlags(rest); err == nil {
						err = found.ValidateRequiredFlags()
					}
				}
				if err == nil && found.Args != nil {
					err = found.Args(found, found.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: %q: %v", c.CommandPath(), strings.TrimSpace(call), err)
				}
				own = own || strings.HasPrefix(found.CommandPath(), c.CommandPath())
			}
		}
		if !own {
			t.Errorf("the example of %s shows other commands only: %s", c.CommandPath(), c.Example)
		}
	}
}
