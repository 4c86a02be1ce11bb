package process

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/members"
)

// Of two processes of one broker the earlier one stops. If both are supervised, it would be
// started again at once, as the later of the two, and stop the other: for ever. So a process
// that stops for another one leaves a note of where that is, and its next start calls there
// first. While the other one answers, it does not begin, and so does not stop it.

// displaced is the note: who has taken this broker's place.
type displaced struct {
	Address string    `json:"address"` // of the other process
	Life    uint64    `json:"life"`
	At      time.Time `json:"at"`
}

// displacedFile is where the note is: beside the journal of the broker, which it outlives.
func (p *process) displacedFile() string { return p.folder(p.name) + ".displaced" }

// noteDisplaced leaves the note. Without it the next start is as the first.
func (p *process) noteDisplaced(m members.Member) {
	text, err := json.Marshal(displaced{m.Address, m.Life, time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = os.WriteFile(p.displacedFile(), text, 0o600)
	}
	if err != nil {
		p.log.Warn().Err(err).Msg("it is not noted that another process has taken this broker's place; if both are started again by themselves, they stop each other in turn")
	}
}

// callTwin bounds the call of the other process.
const callTwin = 3 * time.Second

// standsBack returns an error while the process that has taken this broker's place answers
// with its certificate. Once it does not, the note is removed.
func (p *process) standsBack(ctx context.Context) error {
	text, err := os.ReadFile(p.displacedFile())
	if errors.Is(err, fs.ErrNotExist) || p.store == nil {
		return nil
	}
	var d displaced
	if err != nil || json.Unmarshal(text, &d) != nil || d.Address == "" {
		return fmt.Errorf("%s cannot be read (%v): it says which process has taken this broker's place; remove it once no other process of %s runs", p.displacedFile(), err, p.name)
	}
	config := p.store.Client(certificate.Want{Role: certificate.Broker, Name: p.store.Identity().Name})
	config.NextProtos = []string{"h2"}
	ctx, stop := context.WithTimeout(ctx, callTwin)
	defer stop()
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{}, Config: config}).DialContext(ctx, "tcp", d.Address)
	if err != nil {
		return os.Remove(p.displacedFile())
	}
	_ = conn.Close()
	return fmt.Errorf("another process of %s answers at %s, and has taken this one's place since %s: this one does not begin, or the two would stop each other in turn. "+
		"Stop the other one first, or let this one rest; jobs that only this one has taken are in its journal, %s", p.name, d.Address, d.At.Format(time.RFC3339), p.folder(p.name))
}
