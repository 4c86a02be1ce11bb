package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Without a terminal, as in a log, the first line comes after sayFirst and then one
// every sayEvery: work that is soon done says nothing.
const (
	sayFirst = 15 * time.Second
	sayEvery = time.Minute
)

// progress shows how much of long work is done: by a bar on a terminal, by a line now
// and then elsewhere.
type progress struct {
	out  io.Writer
	what string // is counted
	bar  *progressbar.ProgressBar

	lines     bool // not a bar
	now       func() time.Time
	began, at time.Time // the next line
}

// newProgress returns what shows the progress of something countable.
func newProgress(stderr io.Writer, what string) *progress {
	file, ok := stderr.(*os.File)
	return newProgressAt(stderr, what, ok && term.IsTerminal(int(file.Fd())), time.Now)
}

func newProgressAt(stderr io.Writer, what string, terminal bool, now func() time.Time) *progress {
	began := now()
	return &progress{out: stderr, what: what, lines: !terminal, now: now, began: began, at: began.Add(sayFirst)}
}

// set shows that so much of the work is done. One piece of work has no bar.
func (p *progress) set(done, total int) {
	if total < 2 {
		return
	}
	if p.lines {
		p.say(done, total)
		return
	}
	if p.bar == nil || p.bar.GetMax() != total {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(p.what), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set(done) // it can only fail to draw
}

// say writes a line if it is time for one.
func (p *progress) say(done, total int) {
	now := p.now()
	if done == total || now.Before(p.at) {
		return
	}
	p.at = now.Add(sayEvery)
	fmt.Fprintf(p.out, "%d of %d %s, after %s\n", done, total, p.what, now.Sub(p.began).Round(time.Second))
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
