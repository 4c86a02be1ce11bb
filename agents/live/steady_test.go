package live

import "testing"

// A turn runs whether it comes before, during or after stop. A lost one blocks the test.
func TestSteady_NoTurnIsLost(t *testing.T) {
	for range 1000 {
		s, ran := newSteady(), make(chan struct{}, 3)
		turn := func() { ran <- struct{}{} }
		s.Schedule(turn)
		go s.stop()
		s.Schedule(turn)
		<-ran
		<-ran
		<-s.done
		s.Schedule(turn)
		<-ran
	}
}
