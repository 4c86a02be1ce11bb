package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// life is one process of the program, from its start to its end.
type life struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	began time.Time
	ended chan struct{} // closed when it has ended
	left  bool          // once it has: processes of its group were there
	log   func(string)

	unasked int // answers that nobody waits for
	lines   int // of standard error that were logged since
	since   time.Time

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan *answer
	why     error  // why it was killed
	last    string // line of standard error
	writing sync.Mutex
}

// start starts the program.
func start(cfg Config) (*life, error) {
	l := &life{cmd: exec.Command(cfg.Command[0], cfg.Command[1:]...), ended: make(chan struct{}), waiting: map[uint64]chan *answer{}, log: cfg.Log, began: time.Now()}
	if l.log == nil {
		l.log = func(string) {}
	}
	l.cmd.Dir = cfg.Dir
	l.cmd.Env = []string{}
	for _, name := range []string{"PATH", "HOME", "LANG"} {
		if v, ok := os.LookupEnv(name); ok {
			l.cmd.Env = append(l.cmd.Env, name+"="+v)
		}
	}
	for name, v := range cfg.Env {
		l.cmd.Env = append(l.cmd.Env, name+"="+v)
	}
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l.cmd.WaitDelay = EndLimit
	in, err := l.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not the process's own pipes: what it leaves behind may hold them open for ever.
	out, toOut := io.Pipe()
	said, toSaid := io.Pipe()
	l.cmd.Stdout, l.cmd.Stderr = toOut, toSaid
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	l.in = in
	var reading sync.WaitGroup
	reading.Go(func() { defer out.Close(); l.read(out) })
	reading.Go(func() { defer said.Close(); l.hear(said) })
	go func() {
		err := l.cmd.Wait()
		l.left = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL) == nil // what is left of its group
		_, _ = toOut.Close(), toSaid.Close()
		reading.Wait()
		l.mu.Lock()
		if l.why == nil {
			l.why = errors.New("the driver has ended: " + ending(err))
		}
		l.mu.Unlock()
		close(l.ended)
	}()
	return l, nil
}

func ending(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// read takes the program's answers. What is no answer ends its life.
func (l *life) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := readLine(r, MaxLook)
		if errors.Is(err, errTooLong) {
			l.kill(fmt.Errorf("the driver wrote a line of more than %d bytes", MaxLook))
			return
		}
		if err != nil {
			return
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil || a.ID == nil {
			l.kill(fmt.Errorf("the driver wrote what is no answer, a JSON object with an id: %q", plain(string(line[:min(len(line), 80)]))))
			return
		}
		if len(line) > MaxLine && len(a.Look) == 0 {
			l.kill(fmt.Errorf("the driver wrote a line of more than %d bytes that is no look", MaxLine))
			return
		}
		l.mu.Lock()
		to := l.waiting[*a.ID]
		delete(l.waiting, *a.ID) // a second answer, or a late one, is ignored
		l.mu.Unlock()
		if to != nil {
			to <- &a
		} else if l.unasked++; l.unasked > maxUnasked {
			l.kill(fmt.Errorf("the driver wrote more than %d answers that nobody has asked for", maxUnasked))
			return
		}
	}
}

var errTooLong = errors.New("line too long")

// readLine reads a line of at most so many bytes.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most:
			return nil, errTooLong
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// hear takes what it writes to standard error.
func (l *life) hear(said io.Reader) {
	r := bufio.NewReaderSize(said, 4<<10)
	for {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if text := plain(string(line)); text != "" {
			l.mu.Lock()
			l.last = text
			l.mu.Unlock()
			l.say(text)
		}
		for more && err == nil { // the rest of a long line
			_, more, err = r.ReadLine()
		}
	}
}

// say logs a line of standard error, unless there were too many within a minute.
func (l *life) say(text string) {
	if now := time.Now(); now.Sub(l.since) >= time.Minute {
		l.lines, l.since = 0, now
	}
	switch l.lines++; {
	case l.lines <= maxSaid:
		l.log(text)
	case l.lines == maxSaid+1:
		l.log("the driver writes too much to standard error; the rest of this minute is left out")
	}
}

// ask sends a request and waits for its answer.
func (l *life) ask(ctx context.Context, r request, within time.Duration) (*answer, error) {
	to := make(chan *answer, 1)
	l.mu.Lock()
	l.next++
	r.ID = l.next
	l.waiting[r.ID] = to
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, r.ID)
		l.mu.Unlock()
	}()
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sent := make(chan struct{})
	go func() { // a program that does not read must not hold up the limit
		defer close(sent)
		l.writing.Lock()
		defer l.writing.Unlock()
		_, _ = l.in.Write(append(line, '\n'))
	}()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case a := <-to:
		return a, nil
	case <-l.ended:
		return nil, l.reason()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-limit.C:
	}
	select {
	case <-sent:
	default:
		l.kill(fmt.Errorf("the driver has not read its input for %v", within.Round(time.Second/10)))
	}
	return nil, fmt.Errorf("no answer to %s in %v", r.Do, within.Round(time.Second/10))
}

// reason is why it ended, with the last line of its standard error.
func (l *life) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != "" {
		return fmt.Errorf("%w; it last said: %s", l.why, l.last)
	}
	return l.why
}

// kill ends it and all of its process group at once.
func (l *life) kill(why error) {
	l.mu.Lock()
	if l.why == nil {
		l.why = why
	}
	l.mu.Unlock()
	l.log(why.Error())
	_ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL)
}

// end ends its input, and kills it if it has not ended within the limit.
func (l *life) end() (byItself bool) {
	_ = l.in.Close()
	limit := time.NewTimer(EndLimit)
	defer limit.Stop()
	select {
	case <-l.ended:
		return true
	case <-limit.C:
	}
	l.kill(fmt.Errorf("the driver has not ended %v after its input", EndLimit))
	<-l.ended
	return false
}
