package study

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// streams reports whether the replay can take the jobs as the trace is read. It cannot
// with copies or reservations, which are drawn among all jobs, with forecasts, or with
// --timing, which measures the simulation alone.
func (r *replay) streams(file string) bool {
	return r.copy == 0 && r.reservations == 0 && r.forecasts.file == "" && !r.timing && workload.CanFeed(file, workload.Options{Format: r.from})
}

// stream is run with jobs taken as they are read and rows written as jobs end. If the
// trace must be read whole first, the error is workload.ErrNotInOrder, and nothing has
// been printed or written.
func (r *replay) stream(file string, opt simulation.ReplayOptions, read workload.JobOptions, out, messages io.Writer) error {
	feed, err := workload.OpenFeed(file, workload.Options{Strict: r.strict, Skip: r.skip, Format: r.from}, read)
	if err != nil {
		return err
	}
	defer feed.Close()
	var figures simulation.Figures
	var counts simulation.Counts
	var log *logged
	var said delayed
	bar := flags.NewProgress(messages, "replayed")
	defer bar.Clear()
	replay := func(rows *bufio.Writer) error {
		first, some := feed.Next()
		if some { // else End says why there is no job
			err = r.size(&opt, file, &feed.Header, &said)
		}
		if some && err == nil {
			counts, err = simulation.StreamReplay(from(first, watched(feed, bar)), opt, rowsOf(&figures, rows))
		}
		trace, records, tally, broken := feed.End()
		bar.Clear()
		var over *simulation.OverloadError
		switch {
		case broken != nil: // a problem of the trace goes before others, though found later
			return broken
		case !some:
			if err := r.size(&opt, file, &feed.Header, &said); err != nil {
				return err
			}
			said.to(messages)
			return r.noJobs(file, trace, records, tally, messages)
		case errors.As(err, &over):
			said.to(messages)
			return failure.Of(fmt.Errorf("%s: %w", file, err))
		case err != nil:
			said.to(messages)
			return err
		}
		said.to(messages)
		r.tell(messages, file, trace, tally, counts)
		log = logOf(&tally.Logged)
		return nil
	}
	return r.answer(replay, &figures, &log, out)
}

// answer runs a streamed replay, which writes its rows and finds the figures of the log,
// and prints both sets of figures.
func (r *replay) answer(replay func(*bufio.Writer) error, figures *simulation.Figures, log **logged, out io.Writer) error {
	var unwritten, wrong error
	if r.jobsOut == "" {
		wrong = replay(nil)
	} else {
		unwritten = files.Replace(r.jobsOut, func(w io.Writer) error {
			rows := bufio.NewWriterSize(w, 64<<10)
			_, _ = rows.WriteString(jobsHeader) // Flush returns the error
			if wrong = replay(rows); wrong != nil {
				return wrong
			}
			return rows.Flush()
		})
	}
	if wrong != nil {
		return wrong
	}
	a := replayAnswer{ReplaySummary: figures.Summary(r.procs), Log: *log}
	var err error
	if r.json {
		err = flags.WriteJSON(out, a)
	} else {
		err = r.print(out, &a, figures.Classes())
	}
	return failure.Of(errors.Join(err, unwritten))
}

// rowsOf adds outcomes to the figures and writes their rows, unless rows is nil.
func rowsOf(figures *simulation.Figures, rows *bufio.Writer) func(*simulation.Outcome) {
	var b []byte
	return func(o *simulation.Outcome) {
		if figures.Add(o); rows != nil && o.Ran() {
			b = appendJob(b[:0], o)
			_, _ = rows.Write(b) // Flush returns the error
		}
	}
}

// watched is the feed's Next, and shows how much of the file has been read.
func watched(feed *workload.Feed, bar *flags.Progress) func() (grid.LocalJob, bool) {
	const each = 4096 // jobs
	n := 0
	return func() (grid.LocalJob, bool) {
		if n++; n%each == 0 {
			bar.Part(feed.Read())
		}
		return feed.Next()
	}
}

// from puts the first job back in front of a feed.
func from[T any](first T, next func() (T, bool)) func() (T, bool) {
	begun := false
	return func() (T, bool) {
		if !begun {
			begun = true
			return first, true
		}
		return next()
	}
}

// delayed keeps messages until it is certain that they apply.
type delayed struct{ text []byte }

func (d *delayed) Write(b []byte) (int, error) {
	d.text = append(d.text, b...)
	return len(b), nil
}

func (d *delayed) to(w io.Writer) { _, _ = w.Write(d.text) } // errors are ignored, as for other messages
