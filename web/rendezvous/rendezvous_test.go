package rendezvous

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// meet is one request to a rendezvous.
func meet(h http.Handler, method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, "/v1/rendezvous/"+path, strings.NewReader(body)))
	text, _ := io.ReadAll(w.Body)
	return w.Code, string(text)
}

// Legs of one window meet by its token: who posts first waits for the others.
func TestRendezvous_LegsOfAWindowMeet(t *testing.T) {
	t.Parallel()
	key := agents.DerivedKey(1, "north")
	r := New(key)
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 2, Seq: 3}
	token := key.Token(tx)
	tx.Nonce++
	other := key.Token(tx)
	type answer struct {
		code int
		text string
	}
	first := make(chan answer, 1)
	go func() {
		code, text := meet(r, "POST", token+"?leg=1&legs=2&wait=5m", "south7:5000\n")
		first <- answer{code, text}
	}()
	if code, _ := meet(r, "POST", other+"?leg=0", "elsewhere:1"); code != 200 {
		t.Errorf("another window: %d", code)
	}
	if code, text := meet(r, "POST", token+"?leg=0&legs=2&wait=5m", "north3:5000"); code != 200 || text != "0 north3:5000\n1 south7:5000\n" {
		t.Errorf("%d %q", code, text)
	}
	select {
	case a := <-first:
		if a.code != 200 || a.text != "0 north3:5000\n1 south7:5000\n" {
			t.Errorf("%+v", a)
		}
	case <-time.After(time.Minute):
		t.Fatal("the first leg waits for ever")
	}
	if code, text := meet(r, "POST", token+"?leg=0", "north4:5000"); code != 200 || text != "0 north4:5000\n1 south7:5000\n" {
		t.Errorf("posted again: %d %q", code, text)
	}
	if code, text := meet(r, "GET", token+"?legs=3&wait=0.001s", ""); code != http.StatusRequestTimeout || !strings.HasPrefix(text, "0 north4") {
		t.Errorf("one is missing: %d %q", code, text)
	}
}

func TestRendezvous_RefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	key := agents.DerivedKey(1, "north")
	r := New(key)
	token := key.Token(grid.TxID{Broker: "vo1"})
	stranger := agents.DerivedKey(2, "north").Token(grid.TxID{Broker: "vo1"})
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", token, "", 200}, {"GET", stranger, "", 403}, {"GET", "", "", 403}, {"GET", token[:20], "", 403}, {"GET", strings.Repeat("zz", 24), "", 403},
		{"PUT", token, "", 405}, {"POST", token, "x", 400}, {"POST", token + "?leg=-1", "x", 400}, {"POST", token + "?leg=10000", "x", 400},
		{"POST", token + "?leg=0", "", 400}, {"POST", token + "?leg=0", "a\x1bb", 400}, {"POST", token + "?leg=0", strings.Repeat("x", meetingAddress+1), 413},
		{"GET", token + "?legs=0", "", 400}, {"GET", token + "?wait=1s", "", 400}, {"GET", token + "?legs=1&wait=1d", "", 400},
	} {
		if code, text := meet(r, c.method, c.path, c.body); code != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, code, text, c.want)
		}
	}
	if _, ok := agents.Key(nil).Admits(token); ok {
		t.Error("no key lets in")
	}
}

// Rooms are bounded, and so is what is posted.
func TestRendezvous_IsBounded(t *testing.T) {
	t.Parallel()
	key := agents.DerivedKey(1, "north")
	r := New(key)
	first := key.Token(grid.TxID{Broker: "vo1"})
	meet(r, "POST", first+"?leg=0", "x")
	for i := range uint64(meetingRooms) {
		meet(r, "POST", key.Token(grid.TxID{Broker: "vo1", Seq: i + 1})+"?leg=0", "y")
	}
	if len(r.rooms) != meetingRooms || r.bytes != meetingRooms {
		t.Errorf("%d rooms, %d bytes", len(r.rooms), r.bytes)
	}
	if code, text := meet(r, "GET", first, ""); code != 200 || text != "" {
		t.Errorf("the oldest is still there: %d %q", code, text)
	}
	r.bytes = meetingBytes
	if code, _ := meet(r, "POST", first+"?leg=0", "x"); code != http.StatusInsufficientStorage {
		t.Errorf("beyond the bound: %d", code)
	}
}
