package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// A process of which no version of the wire is common is not asked, and its operator is told
// whose release is too old.
func TestNode_SaysWhoseReleaseIsTooOld(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		said := &bytes.Buffer{}
		n, err := StartNode(NodeOptions{Name: "broker:vo", Host: &fakeHost{}, network: newMemory(), Gossip: gossip.Options{Label: "vo", Profile: "fast"},
			Log: zerolog.New(zerolog.SyncWriter(said)).Level(zerolog.WarnLevel)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		later := members.Member{Agent: "site:later", Address: "127.0.0.1:7", Life: 1, Oldest: wire.Version + 1, Version: wire.Version + 2}
		for range 2 {
			n.believe(later, true)
		}
		n.believe(members.Member{Agent: "site:same", Address: "127.0.0.1:8", Life: 1, Oldest: wire.Oldest, Version: wire.Version + 1}, true)
		if _, known := n.directory.Find("site:later"); known {
			t.Error("a peer is used whose messages cannot be read")
		}
		text := said.String()
		if strings.Count(text, "\n") != 1 || !strings.Contains(text, fmt.Sprintf("\"speaks\":\"%d to %d\"", wire.Version+1, wire.Version+2)) ||
			!strings.Contains(text, "this process is of too old a release for it: upgrade this one") {
			t.Errorf("the log says\n%s", text)
		}
	})
}
