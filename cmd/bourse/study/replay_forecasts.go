package study

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/files"
)

// replayForecasts holds the flags of forecasts made in a replay.
type replayForecasts struct {
	file                string // "": none
	every, level, draws int
	given               func(flag string) bool
}

// forecastDraws is how many draws a forecast has by default.
const forecastDraws = 100

func (f *replayForecasts) flags(cmd *cobra.Command) {
	flags.AddFlag(cmd, &f.file, flags.AsFile, "forecasts", "", "forecast the start of each submission from what is known at it, and write a row for each to this CSV file")
	flags.AddFlag(cmd, &f.every, flags.AsNumber, "every", 1, "with --forecasts: only each K-th submission")
	flags.AddFlag(cmd, &f.level, flags.AsNumber, "level", 80, "with --forecasts: share of the starts that a band is to hold: 50, 80, 90 or 95 %")
	flags.AddFlag(cmd, &f.draws, flags.AsNumber, "draws", forecastDraws, fmt.Sprintf("with --forecasts: draws of each, %d or more", simulation.LeastDraws))
	f.given = cmd.Flags().Changed
}

// withoutForecasts are the flags that do not go with --forecasts, and why.
var withoutForecasts = []struct{ flag, why string }{
	{"reservations", "a forecast does not foresee reservations"},
	{"estimates", "a forecast draws run times of its own"},
	{"overrun", "a forecast takes every job to end at its limit at the latest"},
	{"compare", "forecasts are about one schedule"},
	{"scheduler", "a forecast must know the policy"},
	{"longest", "a forecast knows no limits"},
	{"user-running", "a forecast knows no limits"},
	{"user-waiting", "a forecast knows no limits"},
	{"user-procs", "a forecast knows no limits"},
}

// check refuses what does not go together. slurm: the policy is Slurm's own.
func (f *replayForecasts) check(slurm bool) error {
	if f.file == "" {
		return nil
	}
	for _, other := range withoutForecasts {
		if f.given(other.flag) {
			return fmt.Errorf("--forecasts does not go with --%s: %s; leave one of them out", other.flag, other.why)
		}
	}
	switch {
	case slurm:
		return errors.New("--forecasts does not go with --policy slurm: name a policy of its own, such as easy")
	case f.every < 1:
		return fmt.Errorf("--every %d: must be 1 or more, to forecast each K-th submission", f.every)
	case f.draws < simulation.LeastDraws || f.draws > flags.MaxDraws:
		return fmt.Errorf("--draws %d: must be %d to %d", f.draws, simulation.LeastDraws, flags.MaxDraws)
	}
	_, err := flags.Level(f.level)
	return err
}

// forecastsHeader names the columns: times by the clock of the trace.
const forecastsHeader = "job,submit,start,class,median,lower,upper,raw_lower,raw_upper,calibrated\n"

// write writes a row for each forecast. Those of jobs that start at once have class now.
func (f *replayForecasts) write(result *simulation.Replay, said *simulation.Forecasts) error {
	level, err := flags.Level(f.level)
	if err != nil {
		return err
	}
	return files.Replace(f.file, func(out io.Writer) error {
		w := bufio.NewWriterSize(out, 64<<10)
		w.WriteString(forecastsHeader)
		var b []byte
		for _, x := range said.List {
			b = appendForecast(b[:0], &result.Outcomes[x.Place-1], x.Said, level)
			w.Write(b)
		}
		return w.Flush()
	})
}

// appendForecast appends the row of a forecast.
func appendForecast(b []byte, o *simulation.Outcome, s *forecast.Said, level int) []byte {
	b = strconv.AppendInt(b, o.Job.ID, 10)
	b = appendSeconds(append(b, ','), int64(o.Job.Submit))
	b = appendSeconds(append(b, ','), int64(o.Start))
	if s == nil {
		b = append(b, ",now"...)
		for range 5 {
			b = appendSeconds(append(b, ','), int64(o.Job.Submit))
		}
		return append(b, ",false\n"...)
	}
	b = append(append(b, ','), s.Class.String()...)
	band, raw := s.Bands[level], s.Raw(level)
	for _, wait := range []float64{band.Median, band.Lower, band.Upper, raw.Lower, raw.Upper} {
		b = append(b, ',')
		if !math.IsInf(wait, 1) { // empty: too few draws start
			b = appendSeconds(b, int64(o.Job.Submit.Add(grid.Duration(wait)*grid.Second)))
		}
	}
	b = append(b, ',')
	return append(strconv.AppendBool(b, s.Calibrated), '\n')
}
