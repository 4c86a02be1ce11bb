// Package flags holds the words that all commands share: kinds of flags with what they parse
// and what the shell offers for them, output that a terminal can show safely, and progress.
package flags

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
	"github.com/bourse-grid/bourse/policy/formula"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/workload"
)

// Kind is the type of a flag's value.
type Kind[T any] struct {
	Word     string                  // the help's placeholder for the value
	Parse    func(string) (T, error) // the error says what the value must be
	Complete Completer               // what the shell offers; nil: files
}

// The kinds of flags. Flags without a kind are switches.
var (
	AsDuration    = Kind[grid.Duration]{"duration", grid.ParseDuration, OfferNothing}
	AsSpan        = Kind[grid.Duration]{"duration", parseSpan, OfferNothing}
	AsCredits     = Kind[grid.Credits]{"credits", grid.ParseCredits, OfferNothing}
	AsPrice       = Kind[grid.Price]{"price", grid.ParsePrice, OfferNothing}
	AsInstant     = Kind[Instant]{"time", parseInstant, OfferNothing}
	AsMoment      = Kind[string]{"time", parseMoment, OfferNothing}
	AsDate        = Kind[api.Instant]{"time", parseDate, OfferNothing}
	AsSeed        = Kind[uint64]{"seed", parseSeed, OfferNothing}
	AsNumber      = Kind[int]{"number", parseNumber, OfferNothing}
	AsNodes       = Kind[int]{"number", parseNodes, OfferNothing}
	AsDecimal     = Kind[float64]{"number", parseDecimal, OfferNothing}
	AsShare       = Kind[float64]{"share", parseDecimal, OfferNothing}
	AsPart        = Kind[grid.Performance]{"share", grid.ParsePerformance, OfferNothing}
	AsAlpha       = Kind[choice.Alpha]{"share", choice.ParseAlpha, OfferNothing}
	AsGoal        = Kind[selection.Goal]{"goal", selection.ParseGoal, OfferAll(func() []string { return names.Of(selection.Goals()) })}
	AsReplayed    = Kind[Replayed]{"policy", parseReplayed, OfferAll(ReplayedPolicies)}
	AsPolicy      = Kind[backfill.Policy]{"policy", parseUnordered, OfferAll(func() []string { return names.Of(backfill.Policies()) })}
	AsOrder       = Kind[string]{"formula", anyText, OfferAll(func() []string { return names.Of(formula.Orders()) })}
	AsEstimates   = Kind[estimates.Rule]{"rule", estimates.ParseRule, OfferAll(estimates.Names)}
	AsAlgorithm   = Kind[search.Algorithm]{"algorithm", search.ParseAlgorithm, OfferAll(func() []string { return configs.Words("broker.algorithm") })}
	AsWeights     = Kind[search.Weights]{"weights", parseWeights, OfferNothing}
	AsPriority    = Kind[string]{"priority", parsePriority, offerWords("last", "first")}
	AsRole        = Kind[certificate.Role]{"role", certificate.ParseRole, offerWords("site", "broker", "user", "operator", "mirror")}
	asZone        = Kind[*time.Location]{"zone", workload.ParseZone, offerWords("UTC", "Local")}
	AsPreset      = Kind[string]{"preset", anyText, OfferAll(presetNames)}
	AsFactKind    = Kind[string]{"kind", anyText, OfferAll(kindsOfFacts)}
	AsFile        = Kind[string]{"file", anyText, nil}
	AsFolder      = Kind[string]{"folder", anyText, OfferFolders}
	AsContext     = Kind[string]{"file", anyText, offerContexts}
	AsName        = Kind[string]{"name", anyText, OfferNothing}
	AsText        = Kind[string]{"text", anyText, OfferNothing}
	AsStamp       = Kind[string]{"time", anyText, OfferNothing}
	AsEndpoint    = Kind[string]{"address", anyText, OfferNothing}
	AsURL         = Kind[string]{"URL", anyText, OfferNothing}
	AsBytes       = Kind[int64]{"size", configs.ParseSize, OfferNothing}
	AsSizeOf      = Kind[string]{"size", anyText, OfferNothing}
	AsKeyOf       = Kind[string]{"key", anyText, nil}
	AsUser        = Kind[string]{"user", anyText, Offer(userNames)}
	AsVO          = Kind[string]{"VO", anyText, Offer(voNames)}
	AsSiteName    = Kind[string]{"site", anyText, Offer(SitesHere)}
	AsNodeGroup   = Kind[string]{"group", anyText, Offer(groupNames)}
	AsJobState    = Kind[string]{"state", anyText, OfferAll(jobStates)}
	AsFigureStyle = OneOf("format", "svg", "png")
	AsBlocks      = OneOf("blocks", evidence.BlocksNames()...)
)

// OneOf is the kind of flags that take one of a few words.
func OneOf(word string, words ...string) Kind[string] {
	return Kind[string]{word, func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", errors.New("must be " + names.Or(words))
		}
		return s, nil
	}, offerWords(words...)}
}

// Optional makes a kind optional: its value is nil if the flag is not given.
func Optional[T any](k Kind[T]) Kind[*T] {
	return Kind[*T]{k.Word, func(s string) (*T, error) {
		v, err := k.Parse(s)
		return &v, err
	}, k.Complete}
}

// flagValue is a flag of a kind.
type flagValue[T any] struct {
	kind Kind[T]
	set  func(T)
	text string // as typed, or the default
}

func (v *flagValue[T]) Type() string   { return v.kind.Word }
func (v *flagValue[T]) String() string { return v.text }

func (v *flagValue[T]) Set(s string) error {
	x, err := v.kind.Parse(s)
	if err == nil {
		v.set(x)
		v.text = s
	}
	return err
}

// AddFlag adds a flag of a kind. The help does not show a default that is the zero value.
func AddFlag[T comparable](cmd *cobra.Command, to *T, k Kind[T], name string, def T, usage string) {
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
	add(cmd, &flagValue[T]{k, func(x T) { *to = x }, text}, k.Complete, name, usage)
}

// AddList adds a flag that may be repeated and collects a list.
func AddList[T any](cmd *cobra.Command, to *[]T, k Kind[T], name, usage string) {
	add(cmd, &flagValue[T]{k, func(x T) { *to = append(*to, x) }, ""}, k.Complete, name, usage)
}

// AddWords adds a flag that may be repeated and takes several words separated by commas.
func AddWords(cmd *cobra.Command, to *[]string, word, name, usage string, c Completer) {
	split := func(s string) ([]string, error) { return strings.Split(s, ","), nil }
	add(cmd, &flagValue[[]string]{Kind[[]string]{word, split, c}, func(x []string) { *to = append(*to, x...) }, ""}, c, name, usage)
}

func add(cmd *cobra.Command, v pflag.Value, c Completer, name, usage string) {
	cmd.Flags().Var(v, name, usage)
	if c == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(name, c); err != nil {
		panic(err) // it was added just now
	}
}

// BadFlag names the flag, the bad value and what it must be.
func BadFlag(cmd *cobra.Command, err error) error {
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

// Instant is a time in seconds by a clock, or a span since the clock's zero.
type Instant struct {
	at    grid.Time
	since bool
}

// From returns the instant by a clock with the given zero, which spans count from.
func (i Instant) From(zero grid.Time) grid.Time {
	if i.since {
		return zero.Add(grid.Duration(i.at))
	}
	return i.at
}

func parseInstant(s string) (Instant, error) {
	if t, err := grid.ParseTime(s); err == nil {
		return Instant{at: t}, nil
	}
	d, err := grid.ParseDuration(s)
	if err != nil {
		return Instant{}, errors.New("must be an instant in seconds, such as 3600, or a span since zero, such as 1h")
	}
	return Instant{grid.Time(d), true}, nil
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

// parseUnordered reads a policy where no order by formula can be had: nobody knows the values
// of the jobs that wait.
func parseUnordered(s string) (backfill.Policy, error) {
	p, err := backfill.ParsePolicy(s)
	if err == nil && p.ByFormula() {
		err = errors.New("orders by formula are for replays, and for simulated sites by the keys order and backfill_order")
	}
	return p, err
}

func parseDate(s string) (api.Instant, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, errors.New("must be an instant, such as 2026-03-01T00:00:00Z")
	}
	return api.Instant(at.UnixMilli()), nil
}

func parsePriority(s string) (string, error) {
	_, err := PlaceIn(s, nil)
	return s, err
}
