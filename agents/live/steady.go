package live

// steady runs an actor's turns on one goroutine. Proto.Actor would begin one for each
// message that comes alone, and each would grow its stack anew, which takes as long as a
// step does. It is an actor.Dispatcher.
type steady struct {
	turns chan func() // of one: an actor asks for no more
	done  chan struct{}
}

func newSteady() *steady {
	s := &steady{turns: make(chan func(), 1), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *steady) run() {
	for {
		select {
		case turn := <-s.turns:
			turn()
		case <-s.done:
			return
		}
	}
}

// Schedule has a turn run soon. After stop it has a goroutine of its own.
func (s *steady) Schedule(turn func()) {
	select {
	case <-s.done:
		go turn()
	case s.turns <- turn:
	}
}

// Throughput is after how many messages others may run.
func (s *steady) Throughput() int { return 300 }

// stop ends the goroutine.
func (s *steady) stop() { close(s.done) }
