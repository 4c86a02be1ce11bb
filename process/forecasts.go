package process

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/configs"
)

// forecastState is the file beside a site's journal with what its forecasts have learned, and
// forecastHead how it begins: its version, and a sum of the rest.
const (
	forecastState = "forecast.state"
	forecastHead  = "bourse-forecasts 2 %08x\n"
	mostForecasts = 64 << 20 // bytes
)

// learned keeps what a site's forecasts have learned from one life to the next. Nothing depends on
// it: where it cannot be read or written, the log says so, and the forecasts begin anew.
type learned struct {
	p    *process
	file string
	mu   sync.Mutex
	next func() []byte // what to write; nil: nothing
	busy bool          // somebody writes
	bad  bool          // the last write has failed
}

// keepsLearned has a cluster keep what its forecasts learn beside the journal, if it makes any.
func (p *process) keepsLearned(c *managed.Config, cfg *configs.SiteProcess) {
	if !cfg.Forecast || p == nil {
		return
	}
	if p.learned == nil { // one for all settings of the site: it writes one file
		p.learned = &learned{p: p, file: filepath.Join(p.cfg.Journal.Dir, forecastState)}
	}
	c.Kept = p.learned
}

// Last is what was last kept, nil if nothing was that can be used.
func (l *learned) Last() []byte {
	i, err := os.Stat(l.file)
	if err == nil && i.Size() > mostForecasts {
		err = fmt.Errorf("it has %d bytes, and at most %d are read", i.Size(), mostForecasts)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(l.file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		l.Spoilt(err)
		return nil
	}
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	if want := fmt.Sprintf(forecastHead, crc32.ChecksumIEEE(rest)); string(head)+"\n" != want {
		l.Spoilt(errors.New("it is damaged, or of another version"))
		return nil
	}
	return rest
}

// Keep writes it in place of the last, beside the agents. One that comes while another is written
// waits, and the last of those that wait is written.
func (l *learned) Keep(text func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = text
	if l.busy {
		return
	}
	l.busy = true
	go l.write()
}

func (l *learned) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.next != nil {
		text := l.next
		l.next = nil
		l.mu.Unlock()
		err := l.replace(text())
		l.mu.Lock()
		if err != nil && !l.bad {
			l.p.log.Warn().Err(err).Msg("what the forecasts have learned cannot be kept: a restart begins anew")
		}
		l.bad = err != nil
	}
	l.busy = false
}

// replace writes the file beside, and renames it.
func (l *learned) replace(text []byte) error {
	if len(text) > mostForecasts-len(forecastHead) {
		return fmt.Errorf("it has %d bytes, and at most %d are read", len(text), mostForecasts)
	}
	f, err := os.OpenFile(l.file+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, forecastHead, crc32.ChecksumIEEE(text))
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), l.file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Spoilt sets aside what was kept.
func (l *learned) Spoilt(why error) {
	aside := l.file + ".aside"
	err := os.Rename(l.file, aside)
	l.p.log.Warn().AnErr("rename", err).Str("file", aside).Msgf("what the forecasts had learned is set aside, and they begin anew: %v", why)
}
