package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how much of long work is done, on a terminal only.
type progress struct {
	out  io.Writer // nil: nobody looks
	what string    // is counted
	bar  *progressbar.ProgressBar
}

// newProgress returns what shows the progress of something countable.
func newProgress(stderr io.Writer, what string) *progress {
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{out: stderr, what: what}
}

// set shows that so much of the work is done. One piece of work has no bar.
func (p *progress) set(done, total int) {
	if p.out == nil || total < 2 {
		return
	}
	if p.bar == nil || p.bar.GetMax() != total {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(p.what), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set(done) // it can only fail to draw
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
