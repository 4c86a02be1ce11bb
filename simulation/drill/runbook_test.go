//go:build linux

package drill

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// docs/RUNBOOK.md, the cards that one federation can walk: the fault is made, the alert of
// docs/examples/alerts.yml holds, the commands are typed as they stand, and it holds no
// longer. Other cards name the tests that walk them.
func TestRunbook_TheCommandsAsTheyStand(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n", sites: threeSites()[:2]})
	w := newWalk(f)
	old := binary
	if r := buildRelease(); r.shallow == "" && r.err == nil {
		old = r.program
	} else {
		t.Logf("the last release cannot be built, so the card Rollback is typed with one and the same program: %s%v", r.shallow, r.err)
	}
	w.packages = map[string]string{"": binary, "--allow-downgrades": old}
	w.north.program = old
	w.north.issue(f.ca, certificate.Request{Valid: 72 * time.Hour, Replace: true})
	w.north.mirror = filepath.Join(f.dir, "second")
	must(t, os.Mkdir(w.north.mirror, 0o700))
	f.write()
	f.start()
	f.place("before", 10, grid.Second, patience)
	standing := f.placedLater("standing", 110, grid.Hour)
	w.job = standing.ID
	w.typed("Look first")

	w.typed("Upgrade")
	w.typed("Rollback")
	for _, line := range slices.Concat(w.cards["Upgrade"]...) {
		if strings.HasPrefix(line, "apt") || strings.HasPrefix(line, "systemctl") { // the copy is there
			w.types("Upgrade", line)
		}
	}
	if f.alert("BourseDown", w.north) {
		t.Error("it is back, and is called down")
	}

	f.holds("BourseCertificateEnds", w.north)
	w.typed("Certificate expiring")
	eventually(t, patience, "the new certificate is in use", func() bool { return !f.alert("BourseCertificateEnds", w.north) })

	w.refusedFile()
	w.lostDisk()
	if j, err := f.client().Job(context.Background(), standing.ID); err != nil || j.State != "placed" || !reflect.DeepEqual(j.Legs, standing.Legs) {
		t.Errorf("what was sold before is now %+v, %v", j, err)
	}
	w.takenByForce(standing.ID)

	w.tooMany()

	w.north.kill()
	said := w.typed("Site lost")
	if !strings.Contains(said, "the machine burnt") {
		t.Errorf("the site is not lost for that reason:\n%s", said)
	}
	for card := range claimed(t, t.Name()) {
		if !w.walked[card] {
			t.Errorf("docs/RUNBOOK.md says that the card %q is walked here", card)
		}
	}
	f.stop()
	must(t, os.RemoveAll(w.north.mirror)) // verify takes each journal once
	must(t, os.RemoveAll(filepath.Join(f.dir, "backup")))
	f.verify()
}

// refusedFile leaves a file in place that takes nodes away from a leg: a reload refuses it,
// and no start goes by it.
func (w *walk) refusedFile() {
	f, a := w.f, w.north
	f.t.Helper()
	a.sized(64, 1)
	if _, said, exit := f.bourse("site", "reload", "north"); exit != 1 || !strings.Contains(said, "put the file back as it was") {
		f.t.Errorf("a file without the nodes of a leg: exit %d, %s", exit, said)
	}
	f.holds("BourseFileRefused", a)
	for _, line := range slices.Concat(w.cards["File refused"]...) {
		if !strings.Contains(line, "--force") { // which takenByForce types
			want, status := "promised to legs (", 2
			if strings.Contains(line, "--dry-run") {
				want, status = "would be lost: job standing", 1
			}
			if said, exit := w.tries(line); exit != status || !strings.Contains(said, want) {
				f.t.Errorf("%s exits with %d and says %s", line, exit, said)
			}
		}
	}
	a.kill()
	a.start()
	if exit := a.fails(patience); exit != 2 || !a.said("put the file back as it was and start the site again", "it would take away nodes or accounts that are promised to legs (") {
		f.t.Errorf("a start by that file: exit %d, %s", exit, a.tail(3))
	}
	a.sized(1, 64)
	a.start()
	a.ready()
	if f.alert("BourseFileRefused", a) {
		f.t.Error("the file is right, and is called refused")
	}
	f.together()
}

// takenByForce starts the site by such a file with the operator's word: the leg is lost.
func (w *walk) takenByForce(job string) {
	f, a := w.f, w.north
	f.t.Helper()
	a.sized(64, 1)
	a.stop()
	a.flags = []string{"--force"}
	a.start()
	a.ready()
	a.flags = nil
	w.walked["File refused"] = true
	eventually(f.t, patience, "the leg is lost", func() bool { out, _, _ := f.bourse("explain", job); return strings.Contains(out, "is lost") })
	a.sized(1, 64)
	if out, said, exit := f.bourse("site", "reload", "north"); exit != 0 {
		f.t.Errorf("the file of before: exit %d, %s%s", exit, out, said)
	}
	f.together()
}

// sized changes how many nodes the site's file says that there are.
func (a *agent) sized(was, is int) {
	a.f.t.Helper()
	text, err := os.ReadFile(a.file())
	must(a.f.t, err)
	now := strings.Replace(string(text), fmt.Sprintf("\nnodes = %d\n", was), fmt.Sprintf("\nnodes = %d\n", is), 1)
	if now == string(text) {
		a.f.t.Fatalf("%s has not %d nodes by its file", a.id(), was)
	}
	must(a.f.t, os.WriteFile(a.file(), []byte(now), 0o600))
}

// lostDisk takes away the site's journal: it does not begin with nothing beside its mirror.
func (w *walk) lostDisk() {
	a := w.north
	a.kill()
	must(w.f.t, os.RemoveAll(a.journal()))
	a.start()
	if exit := a.fails(patience); exit != 1 || !a.said("bring it back with bourse journal restore") {
		w.f.t.Errorf("a start without its journal: exit %d, %s", exit, a.tail(3))
	}
	w.f.holds("BourseDown", a)
	w.typed("Disk lost")
	w.f.together()
}

// tooMany has a thousand jobs wait that nobody will pay for.
func (w *walk) tooMany() {
	t := w.f.t
	price := api.Price{Price: 1}
	b := api.Batch{ID: client.NewBatchID()}
	for i := range 1001 {
		b.Jobs = append(b.Jobs, api.JobRequest{Name: fmt.Sprint("cheap", i), User: "ana", Nodes: 1, Length: api.Seconds{Duration: grid.Minute}, MaxPrice: &price})
	}
	taken, err := w.f.client().Submit(context.Background(), b)
	must(t, err)
	w.job = taken.Jobs[0].ID
	w.f.holds("BourseJobsWait", w.f.broker)
	said := w.typed("Too many waiting")
	for _, want := range []string{w.job, "max_waiting"} {
		if !strings.Contains(said, want) {
			t.Errorf("the commands do not say %q:\n%.2000s", want, said)
		}
	}
	more, err := w.f.client().Submit(context.Background(), api.Batch{ID: client.NewBatchID(), Jobs: b.Jobs[:1]})
	if err == nil && more.Jobs[0].Taken || err != nil && !strings.Contains(err.Error(), "wait") {
		t.Errorf("one more job of ana is taken, or refused without a reason: %+v, %v", more, err)
	}
}

// walk goes through cards in a federation.
type walk struct {
	f      *federation
	north  *agent
	job    string                // that JOB stands for
	cards  map[string][][]string // lines, by card and by what stands together
	walked map[string]bool

	packages map[string]string // the program that apt puts in place, by its flag
	services map[string]*agent // that systemctl knows
	played   map[string]func() // what chronyc does, by its word
}

func newWalk(f *federation) *walk {
	f.t.Helper()
	north := f.site("north")
	return &walk{f: f, north: north, cards: cards(f.t), walked: map[string]bool{}, services: map[string]*agent{"bourse-site": north}}
}

// typed types what a card says, in the folder that has the authority, and returns what was
// said. Where the card says systemctl, the test is the manager of services, and where it says apt,
// that of packages: the release of before is what the last one is built to. Between the two
// words of the card about a lost site, it is started again.
func (w *walk) typed(card string) string {
	w.f.t.Helper()
	w.walked[card] = true
	if len(w.cards[card]) == 0 {
		w.f.t.Errorf("docs/RUNBOOK.md has no commands under %q", card)
	}
	var said strings.Builder
	for _, line := range slices.Concat(w.cards[card]...) {
		if strings.Contains(line, "--undo") {
			w.f.holds("BourseSiteLost", w.f.broker)
			w.north.start()
			w.north.ready()
		}
		said.WriteString(w.types(card, line))
		if strings.Contains(line, "--undo") {
			eventually(w.f.t, patience, "the site is lost no more", func() bool { return !w.f.alert("BourseSiteLost", w.f.broker) })
		}
	}
	return said.String()
}

// typedOf types the n-th of what stands together on a card, from 0 on, and returns what each
// line has said.
func (w *walk) typedOf(card string, n int) (said []string) {
	w.f.t.Helper()
	if len(w.cards[card]) <= n {
		w.f.t.Fatalf("docs/RUNBOOK.md has %d blocks of commands under %q", len(w.cards[card]), card)
	}
	for _, line := range w.cards[card][n] {
		said = append(said, w.types(card, line))
	}
	return said
}

// types types one line of a card.
func (w *walk) types(card, line string) string {
	w.f.t.Helper()
	switch word := strings.Fields(line); {
	case word[0] == "chronyc":
		play, ok := w.played[word[1]]
		if !ok {
			w.f.t.Fatalf("%s: nobody knows how to type %q", card, line)
		}
		play()
		return ""
	case word[0] == "apt":
		flag := ""
		if slices.Contains(word, "--allow-downgrades") {
			flag = "--allow-downgrades"
		}
		w.north.program = w.packages[flag]
		return ""
	case word[0] == "journalctl":
		return w.north.tail(50)
	case word[0] == "systemctl":
		var a *agent
		if len(word) > 2 {
			a = w.services[word[2]]
		}
		if a == nil || !slices.Contains([]string{"stop", "start", "restart"}, word[1]) {
			w.f.t.Fatalf("%s: nobody knows how to type %q", card, line)
		}
		if word[1] != "start" && a.running() {
			a.stop()
		}
		if word[1] != "stop" {
			a.start()
			a.ready()
		}
		return ""
	}
	out, exit := w.tries(line)
	if exit != 0 {
		w.f.t.Errorf("%s: %s: exit %d\n%s", card, line, exit, out)
	}
	return out
}

// tries types a line, and returns what was said and the exit status.
func (w *walk) tries(line string) (said string, exit int) {
	a := w.north
	line = strings.NewReplacer(" JOB", " "+w.job, "10.0.0.5", a.host, "bourse ", binary+" ",
		"/etc/bourse/site.toml", a.file(), "/var/lib/bourse/site", a.journal(), "/mnt/backup", filepath.Join(w.f.dir, "backup")).Replace(line)
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = w.f.dir
	cmd.Env = append(os.Environ(), client.Variable+"="+w.f.context())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.f.t.Errorf("%s: %v", line, err)
		return "", -1
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// cards are the commands of the runbook, by card and block.
func cards(t *testing.T) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	must(t, err)
	list := map[string][][]string{}
	card, code := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			card = title
		}
		switch {
		case strings.HasPrefix(line, "```"):
			if code = !code; code {
				list[card] = append(list[card], nil)
			}
		case code && line != "":
			last := len(list[card]) - 1
			list[card][last] = append(list[card][last], line)
		}
	}
	return list
}

// claimed are the cards that say that a test walks them.
func claimed(t *testing.T, test string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	must(t, err)
	list := map[string]bool{}
	for section := range strings.SplitSeq(string(text), "\n## ") {
		if title, rest, _ := strings.Cut(section, "\n"); strings.Contains(rest, "`"+test+"`") {
			list[title] = true
		}
	}
	if len(list) == 0 {
		t.Errorf("docs/RUNBOOK.md has no card that %s walks", test)
	}
	return list
}

// Every card names a test that there is.
func TestRunbook_CardsAreWalkedByTestsThatThereAre(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	must(t, err)
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1)
	if cards := strings.Count(string(text), "\nWalked by") + strings.Count(string(text), " Walked by"); len(names) < 10 || cards < 10 {
		t.Errorf("%d cards are walked by %d tests", cards, len(names))
	}
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "../../cmd/bourse/*_test.go"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			source, err := os.ReadFile(name)
			must(t, err)
			sources.Write(source)
		}
	}
	for _, m := range names {
		if !strings.Contains(sources.String(), "\nfunc "+m[1]+"(t *testing.T)") {
			t.Errorf("docs/RUNBOOK.md names %s, which is no test", m[1])
		}
	}
	list, err := os.ReadFile("../../docs/examples/alerts.yml")
	must(t, err)
	for _, name := range regexp.MustCompile(`\bBourse[A-Z]\w+`).FindAllString(string(text), -1) {
		if !strings.Contains(string(list), "- alert: "+name+"\n") {
			t.Errorf("docs/RUNBOOK.md names %s, which docs/examples/alerts.yml does not have", name)
		}
	}
}
