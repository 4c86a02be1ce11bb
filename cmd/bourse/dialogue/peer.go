// Package dialogue talks with an outside scheduler or chooser, in JSON, a line each way: a program that it
// starts, or the program that started Bourse. It carries a driven.World's requests there and the
// answers back. Whatever the program does wrong, it ends the dialogue with an error that says
// when, what and what would be right, and leaves nothing running.
package dialogue

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// Patience is how long a program may take for an answer.
	Patience = 60 * time.Second
	// MaxAnswer bounds a line that a program says, in bytes.
	MaxAnswer = 16 << 20
	// grace is how long a program may take to end once it has been told that all is over.
	grace = 5 * time.Second
)

// Peer is a program that answers.
type Peer struct {
	in       io.WriteCloser
	out      *bufio.Reader
	patience time.Duration
	asks     chan []byte
	said     chan reply
	timer    *time.Timer
	program  *exec.Cmd // nil: our own parent
	over     chan struct{}
}

type reply struct {
	line []byte
	err  error
}

// Start starts a program by a command of the shell. Its stderr goes to messages. Stop must be
// called.
func Start(command string, messages io.Writer) (*Peer, error) {
	return start(exec.Command("/bin/sh", "-c", command), messages)
}

func start(cmd *exec.Cmd, messages io.Writer) (*Peer, error) {
	cmd.Stderr = messages
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all it starts ends with it
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe, which Wait closes while the last line may still be read.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = write
	err = cmd.Start()
	_ = write.Close()
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	p := newPeer(in, read)
	p.program, p.over = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // its state says it
		close(p.over)
	}()
	return p, nil
}

// Parent is the program that started this one.
func Parent(in io.Reader, out io.Writer) *Peer { return newPeer(unclosed{out}, in) }

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func newPeer(in io.WriteCloser, out io.Reader) *Peer {
	p := &Peer{in: in, out: bufio.NewReaderSize(out, 64<<10), patience: Patience, asks: make(chan []byte), said: make(chan reply, 1), timer: time.NewTimer(time.Hour)}
	go p.serve()
	return p
}

// serve asks one question after the other. If the program hangs, so does serve, until Stop.
func (p *Peer) serve() {
	for line := range p.asks {
		var r reply
		if p.out.Buffered() > 0 {
			r.err = errors.New("it said something without being asked; it must print one line for each line that it reads, and nothing else")
		} else if _, err := p.in.Write(line); err == nil {
			r.line, r.err = p.readLine()
		} else {
			r.err = io.EOF // what it still says does not count
		}
		p.said <- r
	}
}

// readLine reads a line without its end, of at most MaxAnswer bytes.
func (p *Peer) readLine() (line []byte, err error) {
	for {
		part, err := p.out.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxAnswer:
			return nil, fmt.Errorf("its line is longer than %d MiB; an answer is a short line of JSON", MaxAnswer>>20)
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, io.EOF
		}
	}
}

// Ask says a line, which ends with a line feed, and returns the answer.
func (p *Peer) Ask(line []byte) ([]byte, error) {
	p.timer.Reset(p.patience)
	select {
	case p.asks <- line:
	case <-p.timer.C:
		return nil, p.late()
	}
	over := p.over
	for {
		select {
		case r := <-p.said:
			if errors.Is(r.err, io.EOF) {
				return nil, p.ended()
			}
			return r.line, r.err
		case <-over: // what it said last is still read, though others may hold its output open
			over = nil
			p.timer.Reset(min(p.patience, time.Second))
		case <-p.timer.C:
			if over == nil && p.over != nil {
				return nil, p.ended()
			}
			return nil, p.late()
		}
	}
}

func (p *Peer) late() error {
	return fmt.Errorf("no answer within %v; print a line and flush it (in Python, print(..., flush=True))", p.patience)
}

// ended says how the program has ended.
func (p *Peer) ended() error {
	const right = "it must go on until it has answered the end"
	if p.program == nil {
		return errors.New("the other side has closed the pipe; " + right)
	}
	select {
	case <-p.over:
		return fmt.Errorf("the program has ended (%v); %s", p.program.ProcessState, right)
	case <-time.After(grace):
		return errors.New("the program has closed its output; " + right)
	}
}

// Stop ends the program and all that it has started: at once, or, if it has been told that all
// is over, after a while.
func (p *Peer) Stop(told bool) {
	_ = p.in.Close()
	if p.program == nil {
		return
	}
	if told {
		select {
		case <-p.over:
		case <-time.After(grace):
		}
	}
	_ = syscall.Kill(-p.program.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.over
}
