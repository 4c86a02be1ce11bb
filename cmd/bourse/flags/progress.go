package flags

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Without a terminal, such as in a log, the first line comes after sayFirst and then one
// every sayEvery, so short work prints nothing.
const (
	sayFirst = 15 * time.Second
	sayEvery = time.Minute
)

// The bar for one piece of work appears after drawAfter.
const drawAfter = 2 * time.Second

// Progress shows how much of long work is done, and estimates the time left: as a bar on a
// terminal, elsewhere as a line now and then.
type Progress struct {
	out  io.Writer
	What string // what is counted
	bar  *progressbar.ProgressBar

	lines        bool // instead of a bar
	now          func() time.Time
	began, at    time.Time // at: when the next line is due
	last         time.Time // of the last call of set
	first, total int       // done before the start; the whole
	done         int       // with part: in thousandths
}

// NewProgress shows the progress of countable work.
func NewProgress(stderr io.Writer, what string) *Progress {
	file, ok := stderr.(*os.File)
	return newProgressAt(stderr, what, ok && term.IsTerminal(int(file.Fd())), time.Now)
}

func newProgressAt(stderr io.Writer, what string, terminal bool, now func() time.Time) *Progress {
	began := now()
	return &Progress{out: stderr, What: what, lines: !terminal, now: now, began: began, last: began, at: began.Add(sayFirst)}
}

// Start begins work of which a part was done before. That part does not count in the
// estimate of the time left.
func (p *Progress) Start(done, total int) {
	p.first, p.total, p.done = done, total, done
	p.Set(done, total)
}

// Set shows how much of the work is done. It shows nothing for a single piece of work. A
// different total, or less done than before, means new work, which began when the last
// piece was done.
func (p *Progress) Set(done, total int) {
	if total < 2 {
		return
	}
	now := p.now()
	if total != p.total || done < p.done {
		if p.total > 0 {
			p.began = p.last
		}
		p.first, p.total = 0, total
	}
	p.last, p.done = now, done
	if p.lines {
		p.say(now, done)
		return
	}
	if p.bar == nil || p.bar.GetMax() != total {
		p.bar = progressbar.NewOptions(total, append(p.options(), progressbar.OptionShowCount())...)
	}
	p.draw(now, done)
}

// Part shows how much of one piece of work is done, on a terminal only and once the work
// has taken a while. A call that does not complete another thousandth is cheap.
func (p *Progress) Part(done, total int64) {
	const whole = 1000
	if p.lines || total <= 0 {
		return
	}
	k := int(float64(done) / float64(total) * whole)
	if k <= p.done || k > whole {
		return
	}
	now := p.now()
	if p.done = k; now.Sub(p.began) < drawAfter {
		return
	}
	if p.total = whole; p.bar == nil {
		p.bar = progressbar.NewOptions(whole, p.options()...)
	}
	p.draw(now, k)
}

// Through returns a hook for a world's steps that shows how far the world has come on its
// way to until. The hook is nil if nothing would be shown.
func (p *Progress) Through(until grid.Time) func(grid.Time, agents.ID, *agents.Outbox) {
	if p.lines {
		return nil
	}
	return func(now grid.Time, _ agents.ID, _ *agents.Outbox) { p.Part(int64(now), int64(until)) }
}

func (p *Progress) options() []progressbar.Option {
	return []progressbar.Option{progressbar.OptionSetWriter(p.out), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription(p.What)}
}

// draw draws the bar.
func (p *Progress) draw(now time.Time, done int) {
	if left, known := p.left(now, done); known {
		p.bar.Describe(p.What + ", " + left + " left")
	}
	_ = p.bar.Set(done) // fails only if it cannot draw
}

// left estimates how long the rest takes at the speed so far.
func (p *Progress) left(now time.Time, done int) (string, bool) {
	if done <= p.first || done >= p.total {
		return "", false
	}
	took := now.Sub(p.began)
	return time.Duration(float64(took) / float64(done-p.first) * float64(p.total-done)).Round(time.Second).String(), true
}

// say writes a line if one is due.
func (p *Progress) say(now time.Time, done int) {
	if done == p.total || now.Before(p.at) {
		return
	}
	p.at = now.Add(sayEvery)
	line := fmt.Sprintf("%d of %d %s, after %s", done, p.total, p.What, now.Sub(p.began).Round(time.Second))
	if left, known := p.left(now, done); known {
		line += ", about " + left + " left"
	}
	fmt.Fprintln(p.out, line)
}

// Clear removes the bar.
func (p *Progress) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
