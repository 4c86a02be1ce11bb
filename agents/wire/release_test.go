package wire

import (
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The list is that of the release's own wire.proto, where this clone has its commit; and no
// field of it has gone since.
func TestRelease_IsWhatTheReleaseHas(t *testing.T) {
	t.Parallel()
	last := LastRelease()
	known := map[protoreflect.Name]protoreflect.MessageDescriptor{}
	for i := range File_wire_proto.Messages().Len() {
		m := File_wire_proto.Messages().Get(i)
		known[m.Name()] = m
	}
	for name, numbers := range last.fields {
		for n := range numbers {
			if m := known[name]; m == nil || m.Fields().ByNumber(n) == nil {
				t.Errorf("field %d of %s is gone: the last release sends it", n, name)
			}
		}
	}
	releases, err := os.ReadFile("../../cmd/bourse/version/releases.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(releases)), "\n")
	commit := strings.Fields(lines[len(lines)-1])[2]
	proto, err := exec.Command("git", "show", commit+":./wire.proto").Output()
	if err != nil {
		t.Skipf("the last release, commit %s, is not in this clone", commit)
	}
	var list strings.Builder
	for _, m := range regexp.MustCompile(`(?ms)^message (\w+) \{(.*?)^\}`).FindAllStringSubmatch(string(proto), -1) {
		list.WriteString(m[1])
		for _, n := range regexp.MustCompile(`(?m)^ +[^/\n]*= (\d+);`).FindAllStringSubmatch(m[2], -1) {
			list.WriteString(" " + n[1])
		}
		list.WriteString("\n")
	}
	if want, err := parseRelease(list.String()); err != nil || !reflect.DeepEqual(last, want) {
		t.Errorf("release.txt is not what commit %s has: %v\n%s", commit, err, list.String())
	}
}

// Fields that the release knows pass as they are. Others are gone: a part of a leg, the
// slices of a group, a question for parts, and the whole of a message that is newer than it.
func TestRelease_PassesWhatItKnows(t *testing.T) {
	t.Parallel()
	last := LastRelease()
	for _, m := range samples() {
		want, err := through(t, m)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := last.fields[protoreflect.Name(m.Kind())]; !known {
			want = nil
		}
		if got, err := last.Pass("broker:vo1", "site:north", m); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", m.Kind(), got, err)
		}
	}
	part := someSpan
	part.Part = grid.LegPart{Slices: 1, Of: 8}
	group := grid.Group{Site: "north", Name: "main", Nodes: 4, Performance: 1000, Price: 1, Slices: 8, Cores: 64}
	whole := group
	whole.Slices, whole.Cores = 0, 0
	idle := grid.Profile{{At: 1, Free: 4}}
	for _, x := range [][2]agents.Message{
		{agents.OfferRequest{Cycle: 1, Parts: true}, agents.OfferRequest{Cycle: 1}},
		{agents.QuoteRequest{Ref: 1, Legs: []grid.Leg{part}}, agents.QuoteRequest{Ref: 1, Legs: []grid.Leg{someSpan}}},
		{agents.Offers{Groups: []agents.GroupOffer{{Group: group, Admissible: idle, Clear: idle, Opened: []grid.Opened{{Start: 1, End: 2, Free: idle}}}}},
			agents.Offers{Groups: []agents.GroupOffer{{Group: whole, Admissible: idle, Clear: idle}}}},
	} {
		if got, err := last.Pass("broker:vo1", "site:north", x[0]); err != nil || !reflect.DeepEqual(got, x[1]) {
			t.Errorf("%+v is %+v, %v", x[0], got, err)
		}
	}
	nothing := &Dialect{}
	if got, err := nothing.Pass("broker:vo1", "site:north", agents.OfferRequest{Cycle: 1}); err == nil && got != nil {
		t.Errorf("a release that knows nothing gets %+v", got)
	}
}
