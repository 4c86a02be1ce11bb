package live

// steady runs an actor's turns on one goroutine. Proto.Actor would start one for each
// message that comes alone, and each would have to grow its stack again, which takes as
// long as a step. It is an actor.Dispatcher.
type steady struct {
	turns chan func() // buffer of one: an actor never has more
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
			s.drain()
			return
		}
	}
}

// Schedule runs a turn soon; after stop, on a goroutine of its own.
func (s *steady) Schedule(turn func()) {
	s.turns <- turn
	select {
	case <-s.done: // run may have ended before the turn came
		go s.drain()
	default: // run will see the turn, or done and then drain
	}
}

// drain runs the turns that are waiting.
func (s *steady) drain() {
	for {
		select {
		case turn := <-s.turns:
			turn()
		default:
			return
		}
	}
}

// Throughput returns the number of messages after which others may run.
func (s *steady) Throughput() int { return 300 }

// stop ends the goroutine.
func (s *steady) stop() { close(s.done) }
