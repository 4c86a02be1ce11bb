package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The command prints the acts of the file's worlds, one by one.
func TestGather_PrintsTheActsOfScriptedWorlds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../policy/gather/testdata/worlds.json")
	if err != nil {
		t.Fatal(err)
	}
	out, err := onProblem(t, string(text), "gather", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if json.Unmarshal([]byte(out), &got) != nil || json.Unmarshal(text, &want) != nil {
		t.Fatalf("no JSON: %s", out)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", out)
	}
	if out, err = onProblem(t, string(text), "gather"); err != nil || !strings.Contains(out, "by-hand") || !strings.Contains(out, "4040") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestGather_SaysWhatIsWrongWithAWorld(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"name":"x","length":3600,"waste":"0.01","deadline":9,"parts":[{"nodes":1,"cluster":2},{"nodes":1,"cluster":2}]}]`: "world 1 (x): waste 0.01 of 1h is 36 s a node, a first grant 90 s; allow 0.025",
		`[{"name":"x","length":3600,"waste":"2","deadline":9,"parts":[{"nodes":1,"cluster":2},{"nodes":1,"cluster":2}]}]`:    "waste 2: must be 0.01 to 1",
		`[{"name":"x","length":3600,"waste":"0.05","deadline":9,"parts":[{"nodes":3,"cluster":2}]}]`:                         "1 part; a job is gathered from 2 to 8",
		`{}`: "a list of worlds",
	} {
		if _, err := onProblem(t, text, "gather"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
