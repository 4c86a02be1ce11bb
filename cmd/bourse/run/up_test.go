package run

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process/federation"
)

// Each VO has a live page of its own, whose link up prints.
func TestUpVOs_EachHasALivePage(t *testing.T) {
	t.Parallel()
	f := upFlags{dir: t.TempDir(), vos: 2}
	members, err := federation.LayOutVOs(f.dir, 1, f.vos, 0, 12_000+os.Getpid()%190*100+18*20, federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.livePages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		defer p.Start(t.Context())()
	}
	family, err := federation.NewFamily(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := f.announce(&text, members, family, pages); err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`(?m)^  (vo[12])    (http://127\.0\.0\.1:\d+/#\S+)$`).FindAllStringSubmatch(text.String(), -1)
	if len(links) != 2 || links[0][1] != "vo1" || links[1][1] != "vo2" || links[0][2] == links[1][2] || !strings.Contains(text.String(), "live page of each VO") {
		t.Errorf("it says\n%s", text.String())
	}
	f.json = true
	text.Reset()
	if err := f.announce(&text, members, family, pages); err != nil || strings.Count(text.String(), `"vo": "vo`) != 2 {
		t.Errorf("as JSON, %v: %s", err, text.String())
	}
}
