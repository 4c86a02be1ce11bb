package grid

import (
	"fmt"
	"strconv"
	"strings"
)

// Array makes a job an array: its elements, each of which is a job of its own with the same
// request once its turn has come. The zero Array means that the job is no array.
type Array struct {
	Indices Ranges
	AtOnce  int      // the most elements that are in play at once: wait for a cycle, have a window, or run; 0: any number
	Every   Duration // how much later than those of an index its ready time and deadline are at the next index; 0: they are the same for all
}

// MaxElements bounds the elements of an array.
const MaxElements = 100_000

// Some reports whether the job is an array.
func (a Array) Some() bool { return len(a.Indices) > 0 }

// IsZero reports whether the job is no array.
func (a Array) IsZero() bool { return !a.Some() }

// Same reports whether two arrays have the same elements and throttle.
func (a Array) Same(b Array) bool {
	return a.AtOnce == b.AtOnce && a.Every == b.Every && a.Indices.String() == b.Indices.String()
}

// String writes the array as users do: "0-99%10". How far its elements are apart is not in it.
func (a Array) String() string {
	if a.AtOnce == 0 {
		return a.Indices.String()
	}
	return a.Indices.String() + "%" + strconv.Itoa(a.AtOnce)
}

// ParseArray reads "0-99%10": the indices, and how many may be in play at once.
func ParseArray(text string) (Array, error) {
	indices, throttle, throttled := strings.Cut(text, "%")
	if strings.TrimSpace(indices) == "" {
		return Array{}, fmt.Errorf("%q has no elements; write for example 0-99, or 0-99%%10 for at most 10 at once", brief(text))
	}
	list, err := ParseRanges(indices)
	if err != nil {
		return Array{}, err
	}
	a := Array{Indices: list}
	if throttled {
		n, ok := index(strings.TrimSpace(throttle))
		if !ok || n < 1 || n > MaxElements {
			return Array{}, fmt.Errorf("%q after %%: must be the most elements at once, 1 to %d", brief(throttle), MaxElements)
		}
		a.AtOnce = n
	}
	return a, a.Check()
}

// Check says what is wrong with an array; nil: nothing.
func (a Array) Check() error {
	if n := a.Indices.Len(); n > MaxElements {
		return fmt.Errorf("%d elements; must be at most %d: submit several arrays, or let each element do the work of several", n, MaxElements)
	}
	if !a.Some() {
		return nil
	}
	if last := a.Indices[len(a.Indices)-1].Last; a.Every < 0 || a.Every > MaxEvery || a.Every*Duration(last) > MaxDuration {
		return fmt.Errorf("element %d is ready %s times %d after the first, which is no time of a schedule", last, a.Every.Words(), last)
	}
	return nil
}

// MarshalText writes the form of journals: that of users, and after @ how many seconds the
// elements are apart.
func (a Array) MarshalText() ([]byte, error) {
	if a.Every == 0 {
		return []byte(a.String()), nil
	}
	return []byte(a.String() + "@" + a.Every.String()), nil
}

// UnmarshalText reads it.
func (a *Array) UnmarshalText(text []byte) error {
	*a = Array{}
	if len(text) == 0 {
		return nil
	}
	own, every, apart := strings.Cut(string(text), "@")
	list, err := ParseArray(own)
	if err == nil && apart {
		if list.Every, err = ParseDuration(every); err == nil {
			err = list.Check()
		}
	}
	if err == nil {
		*a = list
	}
	return err
}

// ElementName is the name of an element of an array: "wave[3]".
func ElementName(array string, index int) string { return array + "[" + strconv.Itoa(index) + "]" }

// ElementsOf reads such a name, or that of several elements: "wave[3-7]". ok is false if it
// has another form.
func ElementsOf(name string) (array string, some Ranges, ok bool) {
	i := strings.LastIndexByte(name, '[')
	if i < 1 || !strings.HasSuffix(name, "]") {
		return "", nil, false
	}
	some, err := ParseRanges(name[i+1 : len(name)-1])
	return name[:i], some, err == nil
}

// ElementOf reads the name of one element.
func ElementOf(name string) (array string, i int, ok bool) {
	at := strings.LastIndexByte(name, '[')
	if at < 1 || !strings.HasSuffix(name, "]") {
		return "", 0, false
	}
	i, ok = index(name[at+1 : len(name)-1])
	return name[:at], i, ok
}

// Within is the elements that are ready by an instant.
func (j *Job) Within(at Time) Ranges {
	switch every := j.Array.Every; {
	case every == 0:
		return j.Array.Indices
	case at < j.Ready:
		return nil
	default:
		return j.Array.Indices.Within(Ranges{{0, int(at.Sub(j.Ready) / every)}})
	}
}

// Element is the job that an element of an array is. Its conditions are those of the array;
// where that goes element by element, it comes after the one of the same index.
func (j *Job) Element(i int) Job {
	e := *j
	e.Name, e.Array = ElementName(j.Name, i), Array{}
	if later := j.Array.Every * Duration(i); later > 0 {
		if e.Ready = e.Ready.Add(later); e.Deadline != Never {
			e.Deadline = e.Deadline.Add(later)
		}
	}
	if e.Origin.Label != "" {
		e.Origin.Label = ElementName(e.Origin.Label, i)
	}
	e.After = nil
	for _, d := range j.After {
		if d.On == IfEach {
			d = Dependency{ElementName(d.Job, i), IfDone}
		}
		e.After = append(e.After, d)
	}
	return e
}

// tallied is the order in which elements are counted: what is well, what is to come, and what
// is not well.
var tallied = [...]JobState{JobDone, JobRunning, JobPlaced, JobTrying, JobGathering, JobWaiting, JobFailed, JobAbandoned, JobWithdrawn}

// Tally says how many elements are in each state: "83 done, 10 running, 7 failed".
func Tally(n [AllJobStates]int) string {
	var words []string
	for _, s := range tallied {
		if n[s] > 0 {
			words = append(words, strconv.Itoa(n[s])+" "+s.String())
		}
	}
	return strings.Join(words, ", ")
}

// Furthest is the state of an open array with so many elements in each state: the furthest
// that any of its open elements has come.
func Furthest(n [AllJobStates]int) JobState {
	for _, s := range [...]JobState{JobRunning, JobPlaced, JobTrying} {
		if n[s] > 0 {
			return s
		}
	}
	return JobWaiting
}
