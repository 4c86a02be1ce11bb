package dialogue

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/driven"
)

// Alone lets the program drive one world until all is over. told reports whether the program
// knows that, if there is an error too.
func Alone(p *Peer, w *driven.World, nodes int, seed uint64) (told bool, err error) {
	if err := p.begin(begin{Version: Version, Nodes: nodes, Jobs: w.Jobs(), Seed: seed}); err != nil {
		return false, err
	}
	var line []byte
	for {
		r, ok, err := w.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		line = append(appendRequest(line[:0], -1, r), '\n')
		var s said
		if err := p.ask(line, &s, like); err != nil {
			return false, at(r.Now, err)
		}
		if s.World != nil || s.Again != nil {
			return false, at(r.Now, errors.New("the answer has a key world or again; these are for --side-by-side, leave them out"))
		}
		a := s.answer()
		if err := w.Apply(&a); err != nil {
			return false, err
		}
	}
	var s said
	if err := p.ask(append(appendEnd(line[:0], -1, w.Now()), '\n'), &s, like); err != nil {
		return false, at(w.Now(), err)
	}
	if !s.nothing() || s.World != nil || s.Again != nil {
		return true, at(w.Now(), errors.New("the answer to the end asks for something; all jobs are over, answer {}"))
	}
	return true, nil
}

// SideBySide lets the program drive several worlds at once. A request is a list of an object for
// each world that has moved, an answer one for each world that is to go on, in any order, at
// least one; a world that is not named waits for a later answer. A world may begin again, with
// the world that again makes from a seed. When a world is over, done is called with its number
// and how often it had begun again.
func SideBySide(p *Peer, worlds []*driven.World, nodes int, seed uint64, again func(seed uint64) (*driven.World, error), done func(world, life int, w *driven.World)) (told bool, err error) {
	if err := p.begin(begin{Version: Version, Nodes: nodes, Jobs: worlds[0].Jobs(), Seed: seed, Worlds: len(worlds)}); err != nil {
		return false, err
	}
	t := talk{worlds: worlds, lives: make([]int, len(worlds)), status: make([]status, len(worlds)), again: again, done: done}
	for {
		line, err := t.requests()
		if err != nil {
			return false, err
		}
		if t.left() == 0 {
			return true, nil
		}
		clear(t.answers) // or JSON leaves in place what an answer does not name
		t.answers = t.answers[:0]
		if err := p.ask(line, &t.answers, likeSeveral); err != nil {
			return false, t.at(err)
		}
		if err := t.apply(); err != nil {
			return false, err
		}
	}
}

// talk is worlds side by side.
type talk struct {
	worlds  []*driven.World // nil: over
	lives   []int
	status  []status
	line    []byte
	answers []said
	again   func(seed uint64) (*driven.World, error)
	done    func(world, life int, w *driven.World)
}

// status is what a world waits for.
type status uint8

const (
	moves status = iota
	anAnswer
	leave // the answer to its end
)

// left is how many worlds are not over.
func (t *talk) left() (n int) {
	for _, w := range t.worlds {
		if w != nil {
			n++
		}
	}
	return n
}

// at says where the first world stands that was asked.
func (t *talk) at(err error) error {
	for k, w := range t.worlds {
		if w != nil && t.status[k] != moves {
			return fmt.Errorf("world %d: %w", k, at(w.Now(), err))
		}
	}
	return err
}

// requests moves the worlds that were answered to their next instants and makes the line.
func (t *talk) requests() ([]byte, error) {
	moved := 0
	t.line = append(t.line[:0], '[')
	for k, w := range t.worlds {
		if w == nil || t.status[k] != moves {
			continue
		}
		r, ok, err := w.Next()
		if err != nil {
			return nil, fmt.Errorf("world %d: %w", k, err)
		}
		t.line = comma(t.line, moved)
		if moved++; ok {
			t.status[k], t.line = anAnswer, appendRequest(t.line, k, r)
		} else {
			t.status[k], t.line = leave, appendEnd(t.line, k, w.Now())
			t.done(k, t.lives[k], w)
		}
	}
	t.line = append(t.line, "]\n"...)
	return t.line, nil
}

// apply carries out the answers.
func (t *talk) apply() error {
	if len(t.answers) == 0 {
		return errors.New("the answer names no world; answer at least one of those that were asked")
	}
	for i := range t.answers {
		s := &t.answers[i]
		switch {
		case s.World == nil:
			return fmt.Errorf("answer %d of the list has no world; write {\"world\":0,\"start\":[7]}", i+1)
		case *s.World < 0 || *s.World >= len(t.worlds) || t.worlds[*s.World] == nil || t.status[*s.World] == moves:
			return fmt.Errorf("an answer for world %d, which was not asked, or has been answered; answer each world of a request once, or leave it for a later answer", *s.World)
		}
		k := *s.World
		if err := t.applyTo(k, s); err != nil {
			return fmt.Errorf("world %d: %w", k, err)
		}
		t.status[k] = moves
	}
	return nil
}

func (t *talk) applyTo(k int, s *said) (err error) {
	w := t.worlds[k]
	switch {
	case s.Again != nil && !s.nothing():
		return at(w.Now(), errors.New("the answer asks for something and begins again; leave all but again out"))
	case s.Again != nil:
		t.lives[k]++
		t.worlds[k], err = t.again(*s.Again)
		return err
	case t.status[k] == anAnswer:
		a := s.answer()
		return w.Apply(&a)
	case !s.nothing():
		return at(w.Now(), errors.New("the answer to the end asks for something; all jobs are over"))
	}
	t.worlds[k] = nil
	return nil
}

// begin says the first line.
func (p *Peer) begin(b begin) error {
	line, err := json.Marshal(struct {
		Begin begin `json:"begin"`
	}{b})
	if err != nil {
		return err
	}
	var s struct {
		Version int `json:"version"`
	}
	answer, err := p.Ask(append(line, '\n'))
	if err == nil {
		err = parseAs(answer, &s, fmt.Sprintf(`{"version":%d}`, Version))
	}
	switch {
	case err != nil:
		return fmt.Errorf("at the begin: %w", err)
	case s.Version != Version:
		return fmt.Errorf("at the begin: the program speaks version %d, this bourse %d; it must answer {\"version\":%d}", s.Version, Version, Version)
	}
	return nil
}

// ask says a line and reads the answer, which is like such a one.
func (p *Peer) ask(line []byte, to any, like string) error {
	answer, err := p.Ask(line)
	if err != nil {
		return err
	}
	return parseAs(answer, to, like)
}

// at says when.
func at(now grid.Time, err error) error { return fmt.Errorf("at %v: %w", now, err) }
