package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/workload"
)

// kind is the type of a flag's value.
type kind[T any] struct {
	word     string                  // the help's placeholder for the value
	parse    func(string) (T, error) // the error says what the value must be
	complete completer               // what the shell offers; nil: files
}

// The kinds of flags. Flags without a kind are switches.
var (
	asDuration    = kind[grid.Duration]{"duration", grid.ParseDuration, offerNothing}
	asSpan        = kind[grid.Duration]{"duration", parseSpan, offerNothing}
	asCredits     = kind[grid.Credits]{"credits", grid.ParseCredits, offerNothing}
	asPrice       = kind[grid.Price]{"price", grid.ParsePrice, offerNothing}
	asInstant     = kind[instant]{"time", parseInstant, offerNothing}
	asMoment      = kind[string]{"time", parseMoment, offerNothing}
	asDate        = kind[web.Instant]{"time", parseDate, offerNothing}
	asSeed        = kind[uint64]{"seed", parseSeed, offerNothing}
	asNumber      = kind[int]{"number", parseNumber, offerNothing}
	asNodes       = kind[int]{"number", parseNodes, offerNothing}
	asDecimal     = kind[float64]{"number", parseDecimal, offerNothing}
	asShare       = kind[float64]{"share", parseDecimal, offerNothing}
	asPart        = kind[grid.Performance]{"share", grid.ParsePerformance, offerNothing}
	asAlpha       = kind[choice.Alpha]{"share", choice.ParseAlpha, offerNothing}
	asGoal        = kind[selection.Goal]{"goal", selection.ParseGoal, offerAll(func() []string { return names.Of(selection.Goals()) })}
	asReplayed    = kind[backfill.Policy]{"policy", backfill.ParsePolicy, offerAll(func() []string { return names.Of(backfill.Policies()) })}
	asEstimates   = kind[estimates.Rule]{"rule", estimates.ParseRule, offerAll(estimates.Names)}
	asPolicy      = kind[backfill.Policy]{"policy", backfill.ParsePriced, offerAll(func() []string { return names.Of(backfill.PricedPolicies()) })}
	asAlgorithm   = kind[search.Algorithm]{"algorithm", search.ParseAlgorithm, offerAll(func() []string { return configs.Words("broker.algorithm") })}
	asWeights     = kind[search.Weights]{"weights", parseWeights, offerNothing}
	asPriority    = kind[string]{"priority", parsePriority, offerWords("last", "first")}
	asRole        = kind[certificate.Role]{"role", certificate.ParseRole, offerWords("site", "broker", "user", "operator", "mirror")}
	asZone        = kind[*time.Location]{"zone", workload.ParseZone, offerWords("UTC", "Local")}
	asPreset      = kind[string]{"preset", anyText, offerAll(presetNames)}
	asFactKind    = kind[string]{"kind", anyText, offerAll(kindsOfFacts)}
	asFile        = kind[string]{"file", anyText, nil}
	asFolder      = kind[string]{"folder", anyText, offerFolders}
	asContext     = kind[string]{"file", anyText, offerContexts}
	asName        = kind[string]{"name", anyText, offerNothing}
	asText        = kind[string]{"text", anyText, offerNothing}
	asStamp       = kind[string]{"time", anyText, offerNothing}
	asEndpoint    = kind[string]{"address", anyText, offerNothing}
	asURL         = kind[string]{"URL", anyText, offerNothing}
	asSizeOf      = kind[string]{"size", anyText, offerNothing}
	asKeyOf       = kind[string]{"key", anyText, nil}
	asUser        = kind[string]{"user", anyText, offer(userNames)}
	asVO          = kind[string]{"VO", anyText, offer(voNames)}
	asSiteName    = kind[string]{"site", anyText, offer(sitesHere)}
	asNodeGroup   = kind[string]{"group", anyText, offer(groupNames)}
	asJobState    = kind[string]{"state", anyText, offerAll(jobStates)}
	asFigureStyle = oneOf("format", "svg", "png")
	asBlocks      = oneOf("blocks", studies.BlocksNames()...)
)

// oneOf is the kind of flags that take one of a few words.
func oneOf(word string, words ...string) kind[string] {
	return kind[string]{word, func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", errors.New("must be " + names.Or(words))
		}
		return s, nil
	}, offerWords(words...)}
}

// optional makes a kind optional: its value is nil if the flag is not given.
func optional[T any](k kind[T]) kind[*T] {
	return kind[*T]{k.word, func(s string) (*T, error) {
		v, err := k.parse(s)
		return &v, err
	}, k.complete}
}

// flagValue is a flag of a kind.
type flagValue[T any] struct {
	kind kind[T]
	set  func(T)
	text string // as typed, or the default
}

func (v *flagValue[T]) Type() string   { return v.kind.word }
func (v *flagValue[T]) String() string { return v.text }

func (v *flagValue[T]) Set(s string) error {
	x, err := v.kind.parse(s)
	if err == nil {
		v.set(x)
		v.text = s
	}
	return err
}

// addFlag adds a flag of a kind. The help does not show a default that is the zero value.
func addFlag[T comparable](cmd *cobra.Command, to *T, k kind[T], name string, def T, usage string) {
	var zero T
	text := ""
	switch d := any(def).(type) {
	case selection.Goal, search.Algorithm: // their zero values have names worth showing
		text = fmt.Sprint(d)
	case grid.Duration:
		if d != 0 {
			text = d.Words()
		}
	default:
		if def != zero {
			text = fmt.Sprint(d)
		}
	}
	*to = def
	add(cmd, &flagValue[T]{k, func(x T) { *to = x }, text}, k.complete, name, usage)
}

// addList adds a flag that may be repeated and collects a list.
func addList[T any](cmd *cobra.Command, to *[]T, k kind[T], name, usage string) {
	add(cmd, &flagValue[T]{k, func(x T) { *to = append(*to, x) }, ""}, k.complete, name, usage)
}

// addWords adds a flag that may be repeated and takes several words separated by commas.
func addWords(cmd *cobra.Command, to *[]string, word, name, usage string, c completer) {
	split := func(s string) ([]string, error) { return strings.Split(s, ","), nil }
	add(cmd, &flagValue[[]string]{kind[[]string]{word, split, c}, func(x []string) { *to = append(*to, x...) }, ""}, c, name, usage)
}

func add(cmd *cobra.Command, v pflag.Value, c completer, name, usage string) {
	cmd.Flags().Var(v, name, usage)
	if c == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(name, c); err != nil {
		panic(err) // it was added just now
	}
}

// badFlag names the flag, the bad value and what it must be.
func badFlag(cmd *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	case !errors.As(err, &bad):
		return err
	}
	said := bad.Unwrap().Error()
	if bad.GetFlag().Value.Type() == "bool" {
		said = "must be true or false"
	}
	if strings.Contains(said, strconv.Quote(bad.GetValue())) {
		return fmt.Errorf("--%s: %s", bad.GetFlag().Name, said)
	}
	return fmt.Errorf("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), said)
}

func anyText(s string) (string, error) { return s, nil }

func parseNumber(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return int(n), badNumber(err, "a whole number")
}

// mostNodes bounds the nodes of a job.
const mostNodes = 1_000_000

func parseNodes(s string) (int, error) {
	n, err := parseNumber(s)
	if err == nil && (n < 1 || n > mostNodes) {
		err = errors.New("must be 1 to 1,000,000")
	}
	return n, err
}

func parseSeed(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, badNumber(err, "a whole number of 0 or more")
}

func parseDecimal(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	return v, badNumber(err, "a number")
}

// badNumber says what kind of number is needed.
func badNumber(err error, right string) error {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("must be %s that fits in 64 bits", right)
	case err != nil:
		return fmt.Errorf("must be %s", right)
	}
	return nil
}

// parseSpan reads a duration above 0.
func parseSpan(s string) (grid.Duration, error) {
	d, err := grid.ParseDuration(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("duration %q: must be above 0", s)
	}
	return d, err
}

// instant is a time in seconds by a clock, or a span since the clock's zero.
type instant struct {
	at    grid.Time
	since bool
}

// from returns the instant by a clock with the given zero, which spans count from.
func (i instant) from(zero grid.Time) grid.Time {
	if i.since {
		return zero.Add(grid.Duration(i.at))
	}
	return i.at
}

func parseInstant(s string) (instant, error) {
	if t, err := grid.ParseTime(s); err == nil {
		return instant{at: t}, nil
	}
	d, err := grid.ParseDuration(s)
	if err != nil {
		return instant{}, errors.New("must be an instant in seconds, such as 3600, or a span since zero, such as 1h")
	}
	return instant{grid.Time(d), true}, nil
}

// parseMoment accepts a span from now, or RFC 3339, and passes the text on to the API.
func parseMoment(s string) (string, error) {
	if _, err := grid.ParseDuration(s); err == nil {
		return s, nil
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		return "", errors.New("must be a span from now, such as 90s, 30m, 2h or 1d, or a time such as 2026-03-01T12:00:00Z")
	}
	return s, nil
}

func parseDate(s string) (web.Instant, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, errors.New("must be an instant, such as 2026-03-01T00:00:00Z")
	}
	return web.Instant(at.UnixMilli()), nil
}

func parsePriority(s string) (string, error) {
	_, err := placeIn(s, nil)
	return s, err
}
