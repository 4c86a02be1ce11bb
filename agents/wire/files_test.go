package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// through takes a message over the wire.
func through(t *testing.T, m agents.Message) (agents.Message, error) {
	t.Helper()
	e, err := Encode("broker:vo1", "site:north", m)
	if err != nil {
		return nil, err
	}
	b, err := Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if e, err = Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	return Decode(e)
}

func TestWire_FilesOfWorkPass(t *testing.T) {
	t.Parallel()
	for _, m := range []agents.Message{
		agents.LegOutputRequest{Leg: someLeg, Ref: 6, Source: grid.Source{What: grid.ReadFile, Path: "out/a b"}, From: 65536},
		agents.LegOutputRequest{Leg: someLeg, Ref: 6, Source: grid.Source{What: grid.ReadErrors}, From: -1},
		agents.LegOutput{Leg: someLeg, Ref: 6, What: grid.ReadList, Size: 2, Files: []grid.WorkFile{{Path: "a", Size: 3, At: 7}, {Path: "b/c"}}},
		agents.LegOutput{Leg: someLeg, Ref: 6, What: grid.ReadDigest, Size: 2, Data: make([]byte, 32)},
	} {
		if got, err := through(t, m); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v, %v; want %+v", got, err, m)
		}
	}
}

func TestWire_FilesBeyondTheBoundsAreRefused(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]agents.Message{
		"what":  agents.LegOutputRequest{Leg: someLeg, Source: grid.Source{What: grid.Readings}},
		"path":  agents.LegOutputRequest{Leg: someLeg, Source: grid.Source{What: grid.ReadFile, Path: strings.Repeat("x", grid.MaxPath+1)}},
		"files": agents.LegOutput{Leg: someLeg, What: grid.ReadList, Files: make([]grid.WorkFile, grid.MaxFiles+1)},
		"size":  agents.LegOutput{Leg: someLeg, What: grid.ReadList, Files: []grid.WorkFile{{Path: "a", Size: -1}}},
	} {
		if got, err := through(t, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
	}
}
