package live

import (
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// A panic in the middle of a step leaves an undefined state, so the process ends and its
// next life replays the journal. The protocol makes the sender repeat the message that
// caused the panic to that life. So that it does not end every life, each panic is recorded
// beside the journal, and a message on which two lives have panicked at the same place is
// not handed to the agent again (docs/decisions/0017).

// quarantineFile records the panics of an agent, in the folder of its journal.
const quarantineFile = "panics.json"

// Bounds of the quarantine.
const (
	maxFailures = 256       // panics remembered; at the bound the oldest is forgotten
	failsAt     = 2         // lives that panic on a message at one place before it is refused
	widensAt    = 4         // panicking messages of one sender and kind at one place before all such are refused
	refusedFor  = grid.Hour // time since the last panic until a message is tried again, as its cause may have passed
)

// failure is a message on which the agent has panicked. Messages of one sender and kind
// about one thing, a leg or a job, count as the same, since a repeat may contain other
// numbers.
type failure struct {
	From  agents.ID `json:"from"`
	Kind  string    `json:"kind"`
	About string    `json:"about,omitempty"` // from agents.Trace
	Place string    `json:"place"`           // the function, file and line that panicked
	What  string    `json:"what"`
	Count int       `json:"count"` // lives ended by it there
	At    grid.Time `json:"at"`    // the last time
}

// quarantine is what an agent has panicked on, the latest last.
type quarantine struct {
	disk     journal.Disk
	failures []failure
}

// load reads the records of earlier lives. It skips what cannot be read: at worst that
// costs one more life, whereas an error here would prevent all.
func (q *quarantine) load(disk journal.Disk) error {
	q.disk = disk
	names, err := disk.Names()
	if err != nil || !slices.Contains(names, quarantineFile) {
		return err
	}
	text, err := disk.Read(quarantineFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &q.failures); err != nil {
		q.failures = nil
		return fmt.Errorf("%s: %w", quarantineFile, err)
	}
	q.trim()
	return nil
}

// trim forgets the oldest records beyond the bound.
func (q *quarantine) trim() {
	if over := len(q.failures) - maxFailures; over > 0 {
		q.failures = slices.Delete(q.failures, 0, over)
	}
}

// sender returns whom a message is from. Askers have a separate address for each question.
func sender(from agents.ID) agents.ID {
	name, _, _ := strings.Cut(string(from), askMark)
	return agents.ID(name)
}

// holds returns the place where the agent has panicked on such a message, and would again;
// "" if the message may be handed over.
func (q *quarantine) holds(now grid.Time, from agents.ID, m agents.Message) string {
	if len(q.failures) == 0 {
		return ""
	}
	from = sender(from)
	kind, about := m.Kind(), agents.Trace(m)
	alike := map[string]int{}
	for i := len(q.failures) - 1; i >= 0; i-- {
		f := &q.failures[i]
		if f.From != from || f.Kind != kind || now >= f.At.Add(refusedFor) {
			continue
		}
		if alike[f.Place]++; f.About == about && f.Count >= failsAt || alike[f.Place] >= widensAt {
			return f.Place
		}
	}
	return ""
}

// add records a panic durably, before the process ends.
func (q *quarantine) add(now grid.Time, from agents.ID, m agents.Message, place, what string) error {
	f := failure{From: sender(from), Kind: m.Kind(), About: agents.Trace(m), Place: place, What: what, Count: 1, At: now}
	const most = 1000 // bytes of words
	f.What = f.What[:min(len(f.What), most)]
	if i := slices.IndexFunc(q.failures, func(x failure) bool {
		return x.From == f.From && x.Kind == f.Kind && x.About == f.About && x.Place == f.Place
	}); i >= 0 {
		f.Count += q.failures[i].Count
		q.failures = slices.Delete(q.failures, i, i+1)
	}
	q.failures = append(q.failures, f)
	q.trim()
	return q.write()
}

// write rewrites the file: first under a temporary name, then in its place.
func (q *quarantine) write() error {
	const beside = quarantineFile + ".new"
	text, err := json.Marshal(q.failures)
	if err != nil {
		return err
	}
	if names, err := q.disk.Names(); err != nil {
		return err
	} else if slices.Contains(names, beside) { // left over from a crash
		if err := q.disk.Remove(beside); err != nil {
			return err
		}
	}
	if err := q.disk.Append(beside, append(text, '\n')); err != nil {
		return err
	}
	if err := q.disk.Sync(beside); err != nil {
		return err
	}
	if err := q.disk.Rename(beside, quarantineFile); err != nil {
		return err
	}
	return q.disk.SyncNames()
}

// panicPlace returns the line that has panicked. It must be called by the deferred function
// that recovers.
func panicPlace() string {
	var pc [64]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(1, pc[:])])
	panicked := false
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "runtime.") {
			panicked = panicked || f.Function == "runtime.gopanic"
		} else if panicked {
			return fmt.Sprintf("%s %s:%d", f.Function, path.Base(f.File), f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

// refuse answers a message in quarantine in place of the agent. The answer changes no
// state. If it panics too, there is no answer.
func (l *life) refuse(now grid.Time, from agents.ID, m agents.Message, place string) {
	l.count.refused.Add(1)
	if l.limiter.Allow(m.Kind()+" "+string(sender(from)), l.host.opt.Now()) {
		l.log.Error().Str("from", string(from)).Str("kind", m.Kind()).Str("trace", agents.Trace(m)).Str("place", place).
			Msg("refused: this agent has panicked over such a message before")
	}
	r, ok := l.agent.(agents.Refuser)
	if !ok {
		return
	}
	defer l.out.Reset()
	defer func() {
		if x := recover(); x != nil {
			l.log.Error().Str("kind", m.Kind()).Str("place", panicPlace()).Msgf("panic while refusing: %v", x)
		}
	}()
	r.Refuse(now, from, m, grid.Reason{Code: grid.Invalid,
		Detail: fmt.Sprintf("%s has failed over such a message before and takes none for an hour; its log says where", l.id)}, &l.out)
	l.out.Facts, l.out.Alarms = nil, nil
	if err := l.take(now, m); err != nil {
		l.fail(fmt.Errorf("%w: %w", ErrFailed, err))
	}
}

// broke records what the agent has panicked on. Its start and its alarms cannot be refused:
// if it panics on those its state is broken, and every life ends there until an operator
// repairs it.
func (l *life) broke(place string, what any) {
	if !l.stepping || l.handled.from == l.id {
		return
	}
	if err := l.broken.add(l.host.clock.now(), l.handled.from, l.handled.m, place, fmt.Sprint(what)); err != nil {
		l.log.Error().Err(err).Msg("the panic cannot be written down: the next life may end over the same message")
	}
}
