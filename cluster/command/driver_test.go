package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// manner is the variable that makes this test's program a driver with a manner of its own.
const manner = "BOURSE_TEST_MANNER"

func TestMain(m *testing.M) {
	if how, is := os.LookupEnv(manner); is {
		behave(how)
		return
	}
	os.Exit(m.Run())
}

const look = `{"at":1764200001,"source":"test 1","nodes":[{"name":"n1","state":"up"}],"jobs":[],"reservations":[]}`

// behave is a driver.
func behave(how string) {
	if how == "mute" {
		fmt.Fprintln(os.Stderr, "cannot reach\tthe controller")
		os.Exit(3)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r struct {
			ID   uint64
			Do   string
			Name string
			From int64
		}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			continue
		}
		say := func(format string, args ...any) { fmt.Printf(`{"id":%d,%s}`+"\n", r.ID, fmt.Sprintf(format, args...)) }
		switch r.Do {
		case "hello":
			if how == "tomorrow" {
				say(`"version":2`)
				continue
			}
			say(`"version":1,"source":"test 1","can":["run","end","delete","output"],"more":[1]`)
		case "look":
			switch how {
			case "flood":
				fmt.Println(strings.Repeat("x", MaxLook+2))
			case "hides":
				say(`"look":{"at":1764200001,"source":"x","nodes":[]}`)
			case "numbered":
				say(`"look":{"at":1764200001,"source":"x","nodes":[],"jobs":[{"number":7,"state":"running","count":1}],"reservations":[]}`)
			case "failing":
				say(`"failure":{"code":"sunspots","detail":"a\nb"}`)
			case "stubborn":
				continue
			default:
				say(`"look":%s`, look)
			}
		case "output":
			say(`"from":0,"size":5,"data":"aGVsbG8="`)
		default:
			switch how {
			case "dies":
				os.Exit(1)
			case "twice":
				say(`"outcome":"done"`)
				say(`"outcome":"denied"`)
			case "long":
				say(`"outcome":"done","detail":"%s"`, strings.Repeat("x", MaxLine))
			case "odd":
				say(`"outcome":"maybe"`)
			case "refuses":
				say(`"outcome":"denied","code":"sunspots","detail":"not now"`)
			default:
				say(`"outcome":"done"`)
			}
		}
	}
}

// driver starts a driver with a manner.
func driver(t *testing.T, how string) (*Driver, error) {
	t.Helper()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), Config{Command: []string{me}, Env: map[string]string{manner: how}, Site: "north", Prefix: "bourse.north.", Needs: []string{"run", "end", "delete", "output"}})
	if err == nil {
		t.Cleanup(d.Close)
	}
	return d, err
}

// told asks for a command and returns what comes of it.
func told(t *testing.T, d *Driver, within time.Duration) (agents.Outcome, grid.Reason) {
	t.Helper()
	a, err := d.keep.ask(t.Context(), requestOf(agents.Command{Verb: agents.Delete, Name: "bourse.north.a"}), within)
	if err != nil {
		return agents.Failure, asReason(err)
	}
	return a.outcome()
}

func TestDriver_AnswersAMessageOfEachKind(t *testing.T) {
	t.Parallel()
	d, err := driver(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(m agents.Message) (got agents.Message) {
		d.Do(t.Context(), m, func(a agents.Message) { got = a })
		return got
	}
	if m := ask(agents.Command{Ref: 4, Verb: agents.Delete, Name: "a"}).(agents.CommandDone); m.Ref != 4 || m.Name != "a" || m.Outcome != agents.Done {
		t.Errorf("got %v", m)
	}
	if m := ask(agents.LookRequest{Ref: 5}).(agents.Looked); m.Ref != 5 || m.Look == nil || len(m.Look.Nodes) != 1 {
		t.Errorf("got %v", m)
	}
	if m := ask(agents.OutputRequest{Ref: 6, Name: "a", From: -9}).(agents.Output); m.Ref != 6 || string(m.Data) != "hello" || m.Size != 5 {
		t.Errorf("got %v", m)
	}
	if m := ask(agents.Command{Verb: agents.Run, Name: "a"}).(agents.CommandDone); m.Outcome != agents.Denied {
		t.Errorf("a run of nothing: %v", m)
	}
}

// A driver's mistake is a failure, never a denial: nobody knows whether the command was carried
// out.
func TestDriver_WhatIsNotAnsweredIsAFailure(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"dies": "the driver has ended: exit status 1",
		"long": "wrote a line of more than 262144 bytes",
		"odd":  `outcome "maybe"; must be done, denied or failure`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d, err := driver(t, how)
			if err != nil {
				t.Fatal(err)
			}
			if outcome, why := told(t, d, 20*time.Second); outcome != agents.Failure || why.Code != grid.NoCluster || !strings.Contains(why.String(), want) {
				t.Errorf("got %s %v, want %s", outcome, why, want)
			}
			for range 1000 { // of the next life, if it has ended; that it has may be noticed later
				if _, err = d.Look(t.Context()); err == nil {
					break
				}
			}
			if err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestDriver_ASecondAnswerIsIgnored(t *testing.T) {
	t.Parallel()
	d, err := driver(t, "twice")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if outcome, why := told(t, d, 20*time.Second); outcome != agents.Done {
			t.Errorf("got %s %v", outcome, why)
		}
	}
}

// An unknown code counts as invalid in a denial, as no-cluster in a failure.
func TestDriver_UnknownCodes(t *testing.T) {
	t.Parallel()
	d, err := driver(t, "refuses")
	if err != nil {
		t.Fatal(err)
	}
	if outcome, why := told(t, d, 20*time.Second); outcome != agents.Denied || why.Code != grid.Invalid || why.Detail != "not now" {
		t.Errorf("got %s %+v", outcome, why)
	}
	if d, err = driver(t, "failing"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Look(t.Context()); asReason(err).Code != grid.NoCluster || err.Error() != "a b" {
		t.Errorf("got %v", err)
	}
}

func TestDriver_LooksThatAreNotWhole(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"hides":    "lacks nodes, jobs or reservations",
		"numbered": "the driver's look: jobs.number: number, must be a string",
		"flood":    "wrote a line of more than 8388608 bytes",
	} {
		d, err := driver(t, how)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Look(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// A command is answered though a look is not, and the look fails at its limit.
func TestDriver_ALookThatIsNotAnsweredHoldsUpNothing(t *testing.T) {
	t.Parallel()
	d, err := driver(t, "stubborn")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := d.keep.ask(context.Background(), request{Do: "look"}, 300*time.Millisecond)
		failed <- err
	}()
	if outcome, why := told(t, d, 20*time.Second); outcome != agents.Done {
		t.Errorf("got %s %v", outcome, why)
	}
	if err := <-failed; err == nil || err.Error() != "no answer to look in 300ms" {
		t.Errorf("got %v", err)
	}
}

func TestDriver_HelloThatFailsTwiceSaysWhatItLastSaid(t *testing.T) {
	t.Parallel()
	if _, err := driver(t, "mute"); err == nil || !strings.Contains(err.Error(), "exit status 3; it last said: cannot reach the controller") {
		t.Errorf("got %v", err)
	}
	if _, err := driver(t, "tomorrow"); err == nil || !strings.Contains(err.Error(), "speaks version 2") {
		t.Errorf("got %v", err)
	}
}

func TestDriver_VerbsThatClaimsNeed(t *testing.T) {
	t.Parallel()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(t.Context(), Config{Command: []string{me}, Env: map[string]string{manner: "good"}, Needs: []string{"reserve", "assign", "run"}})
	var lacks *MissingError
	if !errors.As(err, &lacks) || !strings.Contains(err.Error(), "cannot reserve and assign") {
		t.Errorf("got %v", err)
	}
}

// The pause before a next life is a second, then twice as long each time.
func TestKeeper_WaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	d, err := driver(t, "dies")
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for range 100_000 { // what is told to a life whose end is not noticed yet fails at once
		at := time.Now()
		told(t, d, 20*time.Second)
		if took = append(took, time.Since(at)); took[len(took)-1] < 500*time.Millisecond {
			took = took[:len(took)-1]
		}
		if len(took) == 2 {
			break
		}
	}
	if len(took) < 2 || took[0] < 900*time.Millisecond || took[1] < 1900*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

// FuzzAnswer: whatever a driver answers, it is a look that fits or an error, and words that fit
// on a line.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":2,"look":` + look + `}`))
	f.Add([]byte(`{"id":3,"outcome":"denied","code":"busy","detail":"x\ny"}`))
	f.Add([]byte(`{"id":4,"look":{"at":1,"nodes":[],"jobs":[{"number":"1","state":"running","start":null}],"reservations":[]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var a answer
		if json.Unmarshal(line, &a) != nil {
			return
		}
		if l, err := a.readLook(); err == nil && checkLook(l) != nil {
			t.Error("a look that does not fit")
		}
		if _, why := a.outcome(); strings.ContainsAny(why.Detail, "\n\r\x1b") || len(why.Detail) > 2*maxDetail {
			t.Errorf("words %q", why.Detail)
		}
	})
}
