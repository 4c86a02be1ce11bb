package dialogue

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/driven"
)

func world(t testing.TB) *driven.World {
	t.Helper()
	w, err := driven.New([]grid.LocalJob{
		{ID: 7, Nodes: 4, Run: 600_000, Estimate: 3600_000, Submit: 1_000_000, User: 5},
		{ID: 8, Nodes: 1, Run: 1500, Estimate: 2500, Submit: 1_000_500, User: -1},
	}, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// script writes a program of the shell that answers each line it reads by the next line given.
// It copies what it reads to heard.
func script(t *testing.T, answers ...string) (command, heard string) {
	t.Helper()
	heard = filepath.Join(t.TempDir(), "heard")
	text := "exec 3>" + heard + "\n"
	for _, a := range answers {
		text += "read -r line; printf '%s\\n' \"$line\" >&3\n" + a + "\n"
	}
	file := filepath.Join(t.TempDir(), "scheduler.sh")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "exec sh " + file, heard
}

func say(line string) string { return "echo '" + line + "'" }

func alone(t *testing.T, patience time.Duration, answers ...string) (heard string, err error) {
	t.Helper()
	command, file := script(t, answers...)
	p, err := Start(command, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	p.patience = patience
	told, err := Alone(p, world(t), 4, 1)
	p.Stop(told)
	for name := range runningIn(t, p.program.Process.Pid) {
		t.Errorf("%s of the program still runs", name)
	}
	text, bad := os.ReadFile(file)
	if bad != nil {
		t.Fatal(bad)
	}
	return string(text), err
}

// runningIn lists what runs in a process group, without what is dead but not yet forgotten.
func runningIn(t *testing.T, group int) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Skip("without /proc nobody knows what runs")
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		name, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" && f[0] != "X" {
			list[name] = true
		}
	}
	return list
}

func TestAlone_SaysWhatIsDocumented(t *testing.T) {
	t.Parallel()
	heard, err := alone(t, Patience, say(`{"version":1}`), say(`{"start":[7],"reject":[],"kill":[],"wake":1001.25}`), say(`{}`), say(`{"kill":[7],"start":[8],"wake":null}`), say(`{}`), say(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"begin":{"version":1,"nodes":4,"jobs":2,"seed":1}}
{"now":1000,"free":4,"ended":[],"arrived":[{"id":7,"nodes":4,"estimate":3600,"submit":1000,"user":"5"}]}
{"now":1000.5,"free":0,"ended":[],"arrived":[{"id":8,"nodes":1,"estimate":2.5,"submit":1000.5,"user":""}]}
{"now":1001.25,"free":0,"ended":[],"arrived":[]}
{"now":1002.75,"free":4,"ended":[8],"arrived":[]}
{"end":{"now":1002.75}}
`
	if heard != want {
		t.Errorf("said\n%swant\n%s", heard, want)
	}
}

// Each thing that a program may do wrong ends the run with the time and what would be right,
// and nothing of it is left.
func TestAlone_EndsWithAWrongProgram(t *testing.T) {
	t.Parallel()
	version := say(`{"version":1}`)
	for name, x := range map[string]struct {
		answers []string
		want    string
	}{
		"another version":      {[]string{say(`{"version":2}`)}, "at the begin: the program speaks version 2, this bourse 1; it must answer {\"version\":1}"},
		"dies at once":         {[]string{"exit 3"}, "at the begin: the program has ended (exit status 3); it must go on until it has answered the end"},
		"dies":                 {[]string{version, "exit 0"}, "at 1000: the program has ended (exit status 0)"},
		"is killed":            {[]string{version, "kill -9 $$"}, "at 1000: the program has ended (signal: killed)"},
		"sleeps":               {[]string{version, "sleep 600"}, "at 1000: no answer within 2s; print a line and flush it"},
		"does not read":        {[]string{"sleep 600"}, "at the begin: no answer within 2s"},
		"says what is no JSON": {[]string{version, say("start 7")}, `at 1000: the answer "start 7" is wrong (invalid character 's'`},
		"says two values":      {[]string{version, say(`{} {}`)}, `(more than one value); an answer is like {"start":[7]`},
		"says a list":          {[]string{version, say(`[{}]`)}, "at 1000: the answer"},
		"an unknown key":       {[]string{version, say(`{"starts":[7]}`)}, `unknown field "starts"`},
		"a number as text":     {[]string{version, say(`{"start":["7"]}`)}, "at 1000: the answer"},
		"answers for a world":  {[]string{version, say(`{"world":0}`)}, "at 1000: the answer has a key world or again"},
		"starts twice":         {[]string{version, say(`{"start":[7,7]}`)}, "at 1000: start of job 7, which runs already"},
		"talks unasked":        {[]string{version, "printf '{}\\n{}\\n'"}, "at 1000.5: it said something without being asked"},
		"waits for ever":       {[]string{version, say(`{}`), say(`{}`)}, "at 1000.5: 2 jobs wait for ever, job 7 first"},
		"floods":               {[]string{version, "exec cat /dev/zero"}, "at 1000: its line is longer than 16 MiB"},
		"leaves another":       {[]string{version, "sleep 600 & exit 1"}, "at 1000: the program has"},
		"asks after the end":   {[]string{version, say(`{"reject":[7]}`), say(`{"reject":[8]}`), say(`{"start":[7]}`)}, "at 1000.5: the answer to the end asks for something"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := 2 * time.Second
			if name == "floods" {
				patience = Patience
			}
			if _, err := alone(t, patience, x.answers...); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %s", err, x.want)
			}
		})
	}
}

func TestSideBySide_AsksAllWorldsAtOnce(t *testing.T) {
	t.Parallel()
	command, heard := script(t, say(`{"version":1}`),
		say(`[{"world":1,"start":[7]},{"world":0,"reject":[7]}]`),
		say(`[{"world":0,"reject":[8]},{"world":1,"kill":[7],"reject":[8]}]`),
		say(`[{"world":0}]`), say(`[{"world":1,"again":5}]`), // the other world waits meanwhile
		say(`[{"world":1,"reject":[7]}]`), say(`[{"world":1,"reject":[8]}]`), say(`[{"world":1}]`))
	p, err := Start(command, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	var lives []string
	told, err := SideBySide(p, []*driven.World{world(t), world(t)}, 4, 9, func(seed uint64) (*driven.World, error) {
		lives = append(lives, "again "+strconv.FormatUint(seed, 10))
		return world(t), nil
	}, func(k, life int, _ *driven.World) { lives = append(lives, strconv.Itoa(k)+"/"+strconv.Itoa(life)) })
	p.Stop(told)
	if err != nil || strings.Join(lives, " ") != "0/0 1/0 again 5 1/1" {
		t.Errorf("%v, %v", err, lives)
	}
	text, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	const first = `"now":1000,"free":4,"ended":[],"arrived":[{"id":7,"nodes":4,"estimate":3600,"submit":1000,"user":"5"}]}`
	if !strings.HasPrefix(string(text), `{"begin":{"version":1,"nodes":4,"jobs":2,"seed":9,"worlds":2}}`+"\n"+`[{"world":0,`+first+`,{"world":1,`+first+"]\n") ||
		!strings.Contains(string(text), `[{"world":0,"end":{"now":1000.5}},{"world":1,"end":{"now":1000.5}}]`) {
		t.Errorf("said\n%s", text)
	}
}

func TestSideBySide_EndsWithAWrongAnswer(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`[{"world":0},{"world":2}]`:             "an answer for world 2, which was not asked, or has been answered; answer each world of a request once, or leave it for a later answer",
		`[{"world":0},{"world":0}]`:             "an answer for world 0, which was not asked, or has been answered",
		`[{"world":-1}]`:                        "an answer for world -1",
		`[]`:                                    "the answer names no world; answer at least one of those that were asked",
		`[{"start":[7]}]`:                       `answer 1 of the list has no world; write {"world":0,"start":[7]}`,
		`[{"world":0},{"world":1,"start":[9]}]`: "world 1: at 1000: start of job 9, which is unknown",
		`[{"world":0,"again":3,"start":[7]}]`:   "world 0: at 1000: the answer asks for something and begins again",
		`{}`:                                    `an answer is like [{"world":0,"start":[7]`,
	} {
		command, _ := script(t, say(`{"version":1}`), say(answer))
		p, err := Start(command, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		told, err := SideBySide(p, []*driven.World{world(t), world(t)}, 4, 9, nil, func(int, int, *driven.World) {})
		p.Stop(told)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", answer, err, want)
		}
	}
}

// With the other side as our parent the same lines go through the pipes that are given.
func TestParent_TalksOnItsOwnPipes(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("{\"version\":1}\n")
	var out bytes.Buffer
	p := Parent(in, &out)
	if _, err := Alone(p, world(t), 4, 1); err == nil || !strings.Contains(err.Error(), "at 1000: the other side has closed the pipe") {
		t.Error(err)
	}
	p.Stop(false)
}

// Whatever comes as an answer, it is read or refused with a word.
func FuzzParse(f *testing.F) {
	for _, x := range []string{`{}`, `{"start":[7],"reject":[],"kill":[],"wake":1600}`, `[{"world":0}]`, `{"wake":1e99}`, `null`, "\xff"} {
		f.Add([]byte(x))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var s said
		if err := parseAs(line, &s, like); err != nil {
			return
		}
		w := world(t)
		if _, _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		a := s.answer()
		if err := w.Apply(&a); err != nil && !strings.HasPrefix(err.Error(), "at 1000: ") {
			t.Fatal(err)
		}
	})
}
