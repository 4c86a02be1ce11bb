package live

import (
	"testing"
	"time"
)

// BenchmarkProcesses_RequestAndAnswer is the time from handing a request over in
// one process until the answer of another is taken, over a socket without TLS;
// what the tests' own pipe takes is in it, about 20 us.
func BenchmarkProcesses_RequestAndAnswer(b *testing.B) {
	broker, _ := processes(b, "lan", "north")
	n := 0
	for b.Loop() {
		n++
		for broker.do("send site:north 1 0"); broker.do("report").Received < n; {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// BenchmarkProcesses_4000Requests is the time for 4000 requests handed over at
// once and answered each.
func BenchmarkProcesses_4000Requests(b *testing.B) {
	broker, _ := processes(b, "lan", "north")
	n := 0
	for b.Loop() {
		n += 4000
		for broker.do("send site:north 4000 0"); broker.do("report").Received < n; {
			time.Sleep(time.Millisecond)
		}
	}
}
