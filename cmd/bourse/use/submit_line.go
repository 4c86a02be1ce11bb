package use

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// One job from the command line, or from a script with lines #BOURSE key = value. The flags
// are the keys of [[job]], see configs.JobKeys.

// jobFlag is a flag that sets a key of the job.
type jobFlag struct {
	key  *configs.JobKey
	to   *[]configs.Setting
	text string
}

func (f *jobFlag) String() string { return f.text }

func (f *jobFlag) Set(value string) error {
	*f.to = append(*f.to, configs.Setting{Key: f.key.Name, Value: value})
	f.text = value
	return nil
}

// Type is what the flag takes, as the help shows it.
func (f *jobFlag) Type() string {
	for _, x := range []struct{ part, word string }{
		{"string, or", "number"}, {"range in", "number"}, {"whole", "number"}, {"array", "list"}, {"by name", "NAME=VALUE"},
		{"node-hour", "price"}, {"credits", "credits"}, {"duration", "duration"}, {"string", "text"}, {"boolean", "bool"},
	} {
		if strings.Contains(f.key.Kind, x.part) {
			return x.word
		}
	}
	return f.key.Kind
}

// IsBoolFlag reports whether the flag may stand without a value.
func (f *jobFlag) IsBoolFlag() bool { return f.key.Kind == "boolean" }

// inTraces are the keys that a trace takes too.
var inTraces = []string{"max_price", "deadline"}

// dashes has - and _ stand for each other in the names of flags.
func dashes(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

// addJobFlags adds a flag for each key of a job that fits on a line. - and _ are the same in
// their names.
func addJobFlags(cmd *cobra.Command, to *[]configs.Setting) {
	f := cmd.Flags()
	for _, key := range configs.JobKeys() {
		usage := key.Doc
		if slices.Contains(inTraces, key.Name) {
			usage += "; for each job of a trace, too"
		}
		if len(key.Words) > 0 && key.Kind != "boolean" {
			usage += ": " + strings.Join(key.Words, ", ")
		}
		if key.Many {
			usage += ". May be repeated"
		}
		v := &jobFlag{key: &key, to: to}
		f.Var(v, key.Flag(), usage)
		if v.IsBoolFlag() {
			f.Lookup(key.Flag()).NoOptDefVal = "true"
		}
		if err := cmd.RegisterFlagCompletionFunc(key.Flag(), offerFor(&key)); err != nil {
			panic(err) // it was added just now
		}
	}
}

// offerFor is what the shell offers for a key.
func offerFor(key *configs.JobKey) flags.Completer {
	switch {
	case len(key.Words) > 0:
		return flags.OfferAll(func() []string { return key.Words })
	case key.Name == "sites", key.Name == "avoid":
		return flags.Offer(flags.BrokersSites)
	case key.Name == "user":
		return flags.AsUser.Complete
	case strings.HasPrefix(key.Name, "after"):
		return flags.Offer(flags.JobsIn("open"))
	}
	return flags.OfferNothing
}

// unmeant refuses flags of a job beside a file that says itself what its jobs are. but lists
// those that it takes.
func (c *submitting) unmeant(what string, but ...string) error {
	for _, s := range c.settings {
		if !slices.Contains(but, s.Key) {
			return fmt.Errorf("--%s: is for a job on the command line or in a script, and has no effect on %s", strings.ReplaceAll(s.Key, "_", "-"), what)
		}
	}
	return nil
}

// last is the value of a flag as it was last given.
func (c *submitting) last(key string) (value string, given bool) {
	for _, s := range c.settings {
		if s.Key == key {
			value, given = s.Value, true
		}
	}
	return value, given
}

// line is the job of a command, or of a script with its lines.
func (c *submitting) line(ctx context.Context, file, name string, lines []configs.Setting, work *grid.Work) ([]api.JobRequest, error) {
	if err := c.unmeantForTraces(file); err != nil {
		return nil, err
	}
	j, err := configs.ParseJob(file, name, slices.Concat(lines, c.settings), work)
	if errors.Is(err, configs.ErrNoLength) {
		for _, s := range slices.Concat(lines, c.settings) {
			if s.Key == "name" {
				name = s.Value
			}
		}
		return nil, errors.New(c.lengthOf(ctx, name, len(lines) > 0 || work.Script != ""))
	}
	if err != nil {
		return nil, err
	}
	return []api.JobRequest{request(j)}, nil
}

// mostPast is how many past jobs are looked at for their run times.
const mostPast = 5

// lengthOf says that a job has no length, and how to find one.
func (c *submitting) lengthOf(ctx context.Context, name string, script bool) string {
	var b strings.Builder
	b.WriteString("length: missing; give --length, such as --length 1h: its run time at performance 1. At the end of its window the work is killed")
	if script {
		b.WriteString("\n  In the script, the line #BOURSE length = 1h does the same.")
	}
	switch past := c.past(ctx, name); len(past) {
	case 0:
		fmt.Fprintf(&b, "\n  You have no job %q that is done, whose run time would be a guide. Try it once with a length that is surely enough; bourse jobs then shows how long it ran.", name)
	default:
		fmt.Fprintf(&b, "\n  Your last jobs %q ran for %s.", name, strings.Join(past, ", "))
	}
	b.WriteString("\n  bourse forecast says of a cluster how long jobs of a length wait there.")
	return b.String()
}

// past are the run times of the user's last jobs of a name, as far as a broker can be asked.
func (c *submitting) past(ctx context.Context, name string) []string {
	ctx, stop := context.WithTimeout(ctx, flags.AnswerTime)
	defer stop()
	server, err := c.Broker()
	if err != nil {
		return nil
	}
	list, err := server.Jobs(ctx, client.Filter{Name: name, State: grid.JobDone.String(), Mine: true})
	if err != nil {
		return nil
	}
	var words []string
	for i := range list[:min(len(list), mostPast)] {
		begin, end := api.Instant(0), list[i].End
		for k := range list[i].Legs {
			if l := &list[i].Legs[k]; l.Begin != 0 && (begin == 0 || l.Begin < begin) {
				begin = l.Begin
			}
		}
		if begin == 0 {
			begin = list[i].Start
		}
		words = append(words, grid.Duration(end-begin).Roughly())
	}
	return words
}

// cap gives the jobs without a price the broker's price cap, and shows it before they are
// sent.
func (c *submitting) cap(ctx context.Context, server *client.Client, jobs []api.JobRequest, messages *flags.Output) error {
	var at []int
	var wish api.QuoteWish
	for i := range jobs {
		if jobs[i].MaxPrice == nil && jobs[i].Budget == nil && !slices.ContainsFunc(jobs[i].Parts, func(p api.PartRequest) bool { return p.MaxPrice != nil }) {
			alone := jobs[i]
			alone.After, alone.AfterAny, alone.AfterFailed, alone.AfterEach, alone.Gap = nil, nil, nil, nil, nil
			at, wish.Jobs = append(at, i), append(wish.Jobs, alone)
		}
	}
	if len(at) == 0 {
		return nil
	}
	wish.Prices = true
	answer, err := server.Quote(ctx, wish)
	if err != nil {
		return err
	}
	most, sum := answer.Jobs[0].MaxPrice, grid.Credits(0)
	for n, i := range at {
		q := &answer.Jobs[n]
		jobs[i].MaxPrice, jobs[i].Capped = &q.MaxPrice, true
		sum = sum.Plus(q.Budget.Times(max(1, q.Elements)))
		most = api.Price{Price: max(most.Price, q.MaxPrice.Price)}
	}
	of := jobs[at[0]].Name
	if len(at) > 1 {
		of = grid.Count(len(at), "job")
	}
	fmt.Fprintf(messages, "%s without a price: at most %v credits per node-hour (the broker's price_cap), %s credits in all; --max-price or --budget says otherwise\n",
		of, most, display.Credits(&api.Credits{Credits: sum}))
	return nil
}
