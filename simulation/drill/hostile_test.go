//go:build linux

package drill

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

var hostile = flag.Int("drill.hostile", 0, "how many jobs each of two VOs submits, of which one is hostile; 0: 20")

// Beside a hostile VO a job of another one may wait longer by the hostile one's whole
// share, as if that lay before it, and by what a busy machine takes to answer.
const (
	hostileShare  = 0.002 // of an hour: 7.2 s
	hostileBeside = 5 * time.Second
)

// spite is what stands in every job of the hostile VO, and must never be read elsewhere.
var spite = struct {
	vo, user, job string
	price         grid.Price
}{"malevolent", "zoe-of-spite", "spiteful", 7_131_719}

// Two VOs at three sites, as processes: one submits jobs, some
// of several sites, some that nobody could place. It does so beside another VO that is
// silent, and at the same time in another federation beside one that submits as many, is
// hostile, and is revoked in the middle: what the flood takes of the machine's processors
// is taken from both. The same jobs
// are placed and refused, for the same money, and no wait is longer by more than the
// share, which is asked of the drill alone, for what else runs on the machine counts in
// it; and nothing that it may read, and nothing that its broker was told, names
// anything of the other. agents/live has the same in virtual time, where every message is
// the same to the byte.
func TestVOs_AHostileVOCostsAnotherNothingBeyondItsShare(t *testing.T) {
	t.Parallel()
	if *hostile == 0 && !*long {
		t.Skip("make hostile-drill and make drill run it; agents/live has it in virtual time")
	}
	jobs := *hostile
	if jobs == 0 {
		jobs = 20
	}
	var silent, beside besideOther
	t.Run("pair", func(t *testing.T) { // at the same time, for they share the machine
		t.Run("silent", func(t *testing.T) { t.Parallel(); silent = besideVO(t, jobs, false) })
		t.Run("hostile", func(t *testing.T) { t.Parallel(); beside = besideVO(t, jobs, true) })
	})
	if t.Failed() || silent.outcome == nil {
		return // failed, or skipped
	}
	if a, b := silent.outcome, beside.outcome; !slices.Equal(a, b) {
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("beside a silent VO: %s; beside a hostile one: %s", a[i], b[i])
			}
		}
	}
	if silent.spent != beside.spent {
		t.Errorf("%v spent beside a silent VO, %v beside a hostile one", silent.spent, beside.spent)
	}
	t.Logf("%d jobs, %d placed; %v spent, the same; waits beside a silent VO %s, beside a hostile one %s", jobs, len(silent.waits), silent.spent, quantiles(silent.waits), quantiles(beside.waits))
	if *hostile == 0 {
		return
	}
	most := time.Duration(hostileShare*float64(time.Hour)) + hostileBeside
	for i := range min(len(silent.waits), len(beside.waits)) { // in order of their length
		if more := beside.waits[i] - silent.waits[i]; more > most {
			t.Errorf("of %d waits the one that %d are shorter than is %v beside a silent VO and %v beside a hostile one, more than %v longer", len(silent.waits), i, silent.waits[i], beside.waits[i], most)
		}
	}
}

// besideOther is what a VO has got beside another one.
type besideOther struct {
	outcome []string // of each job, in order of their submission
	spent   grid.Credits
	waits   []time.Duration // of those that were placed
}

// besideVO runs the jobs of atlas beside a VO that has other things in mind, or nothing.
func besideVO(t *testing.T, jobs int, spiteful bool) (r besideOther) {
	t.Helper()
	s := layVOs(t, []voPlan{{"atlas", "main", 1}, {spite.vo, "worker", hostileShare}})
	s.start()
	atlas, cms := s.of["atlas"], s.of[spite.vo]
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var told bytes.Buffer
	var crew sync.WaitGroup
	crew.Go(func() {
		_ = atlas.client().Follow(ctx, "", func(e client.Event) error {
			fmt.Fprintf(&told, "%+v %+v\n", e.Job, e.Turn)
			return nil
		})
	})
	v := &villain{s: s, of: spite.vo, victim: "atlas", pause: 200 * time.Millisecond}
	if *hostile > 0 {
		v.pause = 20 * time.Millisecond
	}
	calm := func() {}
	var theirs func()
	if spiteful {
		for _, name := range []string{"main", "villain"} {
			_, err := cms.ca.Issue(certificate.Request{Role: certificate.Broker, Name: name, Hosts: []string{"127.0.0.1"}})
			must(t, err)
		}
		theirs = cms.submits(jobs, true, func(int) {})
		calm = v.rampage()
	}
	before := int64(0)
	wait := atlas.submits(jobs, false, func(i int) {
		if spiteful && i == jobs/2 {
			for _, name := range []string{"main", "villain", "worker"} {
				_, err := cms.ca.Revoke(certificate.Broker, name)
				must(t, err)
			}
			before = v.sent.Load()
		}
	})
	wait()
	r.results(s, jobs)
	if spiteful {
		theirs()
		for _, a := range s.agents[len(s.of):] {
			eventually(t, patience, a.name+" refuses who is revoked", func() bool { return a.said("is revoked") })
		}
	}
	words := s.secrets(spiteful)
	atlas.reads(s, words)
	calm()
	stop()
	crew.Wait()
	if spiteful {
		t.Logf("%d messages of the hostile VO, %d of them before it was revoked; %d connections and streams refused", v.sent.Load(), before, v.refused.Load())
		if before < int64(10*jobs) || v.refused.Load() < 20 {
			t.Error("nobody is hostile")
		}
		s.holdsShare()
	}
	s.stop()
	s.none(told.Bytes(), "the events of atlas", words, atlas.broker.dir)
	s.verify()
	return r
}

// submits submits jobs of a VO, one after the other at moments that do not depend on what
// comes of them, and calls at before each. What it returns waits for the last.
func (f *federation) submits(jobs int, spiteful bool, at func(i int)) (wait func()) {
	var crew sync.WaitGroup
	r := rand.New(rand.NewPCG(*seed, 47))
	server, begun := f.client(), time.Now()
	crew.Go(func() {
		for i := range jobs {
			time.Sleep(time.Until(begun.Add(time.Duration(i) * 150 * time.Millisecond)))
			at(i)
			j := api.JobRequest{Name: fmt.Sprintf("job%03d", i), User: fmt.Sprintf("user%d", i%3), Nodes: 1 + r.IntN(12), Length: api.Seconds{Duration: grid.Duration(1+r.IntN(3)) * grid.Second}}
			price := api.Price{Price: 9 * grid.Price(grid.Credit)}
			switch i % 15 {
			case 4:
				j.Nodes, j.Length.Duration = 100+r.IntN(20), grid.Second // more than any site has
			case 9:
				j.Nodes = 1000 // more than all have
			}
			if spiteful {
				j.Name, j.User, price.Price = spite.job+j.Name, spite.user, spite.price
			}
			j.MaxPrice = &price
			ctx, stop := context.WithTimeout(context.Background(), patience)
			a, err := server.Submit(ctx, api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{j}})
			stop()
			if (err != nil || !a.Jobs[0].Taken) && !spiteful {
				f.t.Errorf("job %d is not taken: %v, %+v", i, err, a)
			}
		}
	})
	return crew.Wait
}

// results waits until all jobs of atlas are over and takes down what became of them.
func (r *besideOther) results(s *shared, jobs int) {
	s.t.Helper()
	atlas := s.of["atlas"]
	var list []api.Job
	eventually(s.t, patience, "all jobs of atlas are over", func() bool {
		var err error
		list, err = atlas.client().Jobs(context.Background(), client.Filter{})
		return err == nil && len(list) == jobs && !slices.ContainsFunc(list, func(j api.Job) bool { return j.State != "done" && j.State != "abandoned" })
	})
	slices.SortFunc(list, func(a, b api.Job) int { return strings.Compare(a.Name, b.Name) })
	for i := range list {
		j, err := atlas.client().Job(context.Background(), list[i].ID)
		must(s.t, err)
		line := fmt.Sprintf("%s of %s, %d nodes: %s", j.Name, j.User, j.Nodes, j.State)
		if j.State == "done" {
			line += fmt.Sprintf(" for %v, paid %v", j.Cost, j.Paid)
			if j.Back != nil {
				line += fmt.Sprintf(", back %v", j.Back)
			}
			r.waits = append(r.waits, time.Duration(j.Start-j.Submitted)*time.Millisecond)
		}
		r.outcome = append(r.outcome, line)
	}
	slices.Sort(r.waits)
	a, err := atlas.client().Accounts(context.Background())
	must(s.t, err)
	r.spent = a.Money.Spent.Credits
}

// holdsShare checks by the journals of the sites, at each of its holds, that the hostile
// VO holds no more of the next hour than its share, and, in the long form, that it holds
// anything at all.
func (s *shared) holdsShare() {
	s.t.Helper()
	any := int64(0)
	for _, a := range s.agents[len(s.of):] {
		held, most := map[grid.LegID]grid.Leg{}, int64(0)
		folder, err := journal.LookInto(a.facts())
		must(s.t, err)
		_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error {
			m, is := r.Fact.(facts.LegMoved)
			switch {
			case !is || r.Image || grid.VOOf(m.Leg.Tx.Broker) != spite.vo:
			case !m.State.Blocks():
				delete(held, m.Leg)
			default:
				held[m.Leg] = m.What
				sum := int64(0)
				for _, l := range held {
					sum += int64(l.Nodes) * max(0, int64(min(l.End, r.At.Add(grid.Hour))-max(l.Start, r.At)))
				}
				most = max(most, sum)
			}
			return nil
		})
		_ = folder.Close()
		must(s.t, err)
		share := int64(float64(a.nodes) * hostileShare * float64(grid.Hour))
		s.t.Logf("%s: %s holds %d node-ms of an hour at most, its share is %d", a.name, spite.vo, most, share)
		if any += most; most > share {
			s.t.Errorf("%s: %s holds %d node-ms of an hour, its share is %d", a.name, spite.vo, most, share)
		}
	}
	if *hostile > 0 && any == 0 {
		s.t.Errorf("%s holds nothing anywhere", spite.vo)
	}
}

// secrets is what must not be read by atlas.
func (s *shared) secrets(spiteful bool) (words []string) {
	words = []string{spite.vo, spite.user, spite.job, "villain", fmt.Sprint(int64(spite.price)), "7.131719"}
	if !spiteful {
		return words
	}
	ours := map[string]bool{}
	for vo, f := range s.of {
		list, err := f.client().Jobs(context.Background(), client.Filter{})
		must(s.t, err)
		for _, j := range list {
			if vo == "atlas" {
				ours[j.ID] = true
			} else if !ours[j.ID] {
				words = append(words, j.ID)
			}
		}
	}
	return words
}

// paths are the parameters of paths of the API.
var paths = regexp.MustCompile(`\{[^}]*\}`)

// reads has an operator and a user of a VO read all that either may, and finds none of
// some words in it.
func (f *federation) reads(s *shared, words []string) {
	f.t.Helper()
	_, err := f.ca.Issue(certificate.Request{Role: certificate.User, Name: "user1"})
	must(f.t, err)
	jobs, err := f.client().Jobs(context.Background(), client.Filter{User: "user1"})
	must(f.t, err)
	for role, name := range map[certificate.Role]string{certificate.Operator: "olga", certificate.User: "user1"} {
		get := f.reader(f.broker, role, name)
		_, text := get("/openapi.json")
		var server struct {
			Paths map[string]map[string]json.RawMessage
		}
		must(f.t, json.Unmarshal([]byte(text), &server))
		all := []string{"/", "/metrics", "/healthz", "/readyz"}
		for path, methods := range server.Paths {
			if methods["get"] == nil || path == "/v1/events" { // a stream, read in besideVO
				continue
			}
			filled := paths.ReplaceAllString(path, jobs[0].ID)
			all = append(all, filled)
			for _, word := range words {
				if filled != path {
					all = append(all, paths.ReplaceAllString(path, word))
				}
			}
		}
		read := 0
		for _, path := range all {
			status, text := get(path)
			for _, word := range words {
				text = strings.ReplaceAll(text, path, "") // as it was asked
				if !strings.Contains(path, word) && strings.Contains(text, word) {
					f.t.Errorf("%s %s reads %q in %s:\n%.500s", role, name, word, path, text)
				}
			}
			if status == http.StatusOK {
				read++
				for _, word := range words {
					if strings.Contains(path, word) {
						f.t.Errorf("%s %s reads %s:\n%.500s", role, name, path, text)
					}
				}
			}
		}
		f.t.Logf("%s %s: %d of %d paths answered with something", role, name, read, len(all))
		if read < 10 {
			f.t.Errorf("%s %s reads %d paths only", role, name, read)
		}
		for _, site := range s.agents[len(s.of):] {
			get := f.reader(site, role, name)
			for _, path := range []string{"/v1/site", "/v1/offers", "/v1/reservations", "/metrics", "/live", "/v1/events"} {
				if status, text := get(path); status == http.StatusOK {
					f.t.Errorf("%s %s reads %s of %s, which is for the sites' operators:\n%.500s", role, name, path, site.name, text)
				}
			}
		}
	}
}

// none finds none of some words in a text, or in all files of a folder.
func (s *shared) none(text []byte, what string, words []string, dirs ...string) {
	s.t.Helper()
	in := func(text []byte, what string) {
		for _, word := range words {
			if i := bytes.Index(text, []byte(word)); i >= 0 {
				s.t.Errorf("%s has %q: %q", what, word, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
	in(text, what)
	for _, dir := range dirs {
		must(s.t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			in(text, name)
			return err
		}))
	}
}
