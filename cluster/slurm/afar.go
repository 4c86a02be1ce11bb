package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/grid"
)

// afar is the folder of work at the other end of a shell, mostly over ssh. It is ours alone, and
// has what a folder of this machine has, and for pilots also what pilot.go says. All of it belongs
// to the account of the connection, as which all work runs.
type afar struct {
	c    Commands
	path string // absolute, there
	who  *account
}

// newAfar makes the folder if there is none, and learns its path and the account.
func newAfar(cfg Config) (*afar, error) {
	if cfg.Folder == "" || strings.ContainsFunc(cfg.Folder, func(r rune) bool { return r < ' ' || r == '%' || r == '\\' }) {
		return nil, fmt.Errorf("folder %q: Slurm gives a meaning to %% and \\; name another one", cfg.Folder)
	}
	f := &afar{c: cfg.Commands}
	p, err := f.do(context.Background(), "folder", f.c.setting()+`umask 077; cd && mkdir -p `+ssh.Quote(cfg.Folder)+` && cd `+ssh.Quote(cfg.Folder)+` && mkdir -p done && chmod 700 . && id -un && pwd -P`)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", cfg.Folder, err)
	}
	who, path, _ := strings.Cut(strings.TrimRight(string(p), "\n"), "\n")
	if who == "" || !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '%' || r == '\\' }) {
		return nil, fmt.Errorf("folder %s is %q of account %q there: must be an absolute path without %% and \\", cfg.Folder, path, who)
	}
	if who == "root" {
		return nil, errors.New("the connection is root's, as whom no work runs; name another account in ssh")
	}
	f.path, f.who = path, &account{name: who}
	return f, nil
}

// do runs one step and returns what it has printed. If its status is not 0 the error is a *Failed.
func (f *afar) do(ctx context.Context, name, shell string) ([]byte, error) {
	a, err := f.c.Shell.Call(ctx, f.c.Limit, ssh.Step{Name: name, Shell: shell})
	if err != nil {
		return nil, err
	}
	return result(name, a.Parts[name])
}

// result is what a step has printed, or that it failed.
func result(said string, p ssh.Part) ([]byte, error) {
	if p.Exit == 0 {
		return p.Out, nil
	}
	text := p.Errs
	if len(text) == 0 {
		text = p.Out[:min(len(p.Out), maxComplain)]
	}
	return nil, &Failed{Command: said, Text: words(string(text)), Exit: p.Exit, Missing: p.Exit == notFound}
}

// notFound is a shell's status of a program that is not there.
const notFound = 127

// in is a shell's text to enter the folder.
func (f *afar) in() string { return "umask 077; cd " + ssh.Quote(f.path) + " || exit\n" }

// account refuses all accounts but that of the connection.
func (f *afar) account(name string) (*account, grid.Reason) {
	if name != f.who.name {
		return nil, grid.Because(grid.NotAllowed, "work at the other end of ssh runs as the account of the connection, %s, and not as %q; write as = %q in [[account]]", f.who.name, name, f.who.name)
	}
	return f.who, grid.Reason{}
}

func (f *afar) of(name string) string    { return f.path + "/" + name }
func (f *afar) owner(name string) string { return f.who.name }

// traces reads the traces of a reservation.
func (f *afar) traces(ctx context.Context, name string) (traces, error) {
	out, err := f.do(ctx, "traces", f.in()+notes(name))
	if err != nil {
		return traces{}, err
	}
	n := readNotes(out)[name]
	return readTraces(name, n["begun"], n["exit"])
}

// prepare makes the folder of a reservation, with its files: whole or not at all. One in which
// work has begun is left alone.
func (f *afar) prepare(ctx context.Context, name string, _ *account, files map[string]string) error {
	_, err := f.do(ctx, "prepare", f.in()+f.preparing(name, files))
	return err
}

// preparing is the shell's text for it.
func (f *afar) preparing(name string, files map[string]string) string {
	fresh := ssh.Quote(".new-" + name)
	var b strings.Builder
	fmt.Fprintf(&b, "rm -rf %[1]s && mkdir %[1]s || exit\n", fresh)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		b.WriteString(ssh.File(fmt.Sprintf("if ! cat >%s/%s", fresh, file), files[file]))
		fmt.Fprintf(&b, "\nthen rm -rf %s; exit 1; fi\n", fresh)
		fmt.Fprintf(&b, "chmod 700 %s/%s\n", fresh, file)
	}
	fmt.Fprintf(&b, "[ ! -e %[2]s/begun ] || { rm -rf %[1]s; echo 'it has begun before' >&2; exit 1; }\nrm -rf %[2]s && mv %[1]s %[2]s\n", fresh, ssh.Quote(name))
	return b.String()
}

// find finds the folder of a reservation, put aside or not, and which of its files are elsewhere.
func (f *afar) find(ctx context.Context, name string) (*account, string, map[string]string, error) {
	q := ssh.Quote(name)
	out, err := f.do(ctx, "find", f.in()+`for d in `+q+` done/`+q+`; do [ -d "$d" ] && { echo "$d"; head -c 65536 "$d/where" 2>/dev/null; exit 0; }; done; exit 0`)
	if err != nil {
		return nil, "", nil, err
	}
	dir, where, _ := bytes.Cut(out, []byte("\n"))
	if len(dir) == 0 {
		return nil, "", nil, os.ErrNotExist
	}
	return f.who, f.path + "/" + string(dir), readNote(where), nil
}

// close puts the folder of a deleted reservation aside, and removes those that were put aside
// before an instant. What fails is done another time.
func (f *afar) close(ctx context.Context, name string, sweepBefore time.Time) {
	days := max(1, int(time.Since(sweepBefore)/(24*time.Hour)))
	q := ssh.Quote(name)
	_, _ = f.do(ctx, "close", f.in()+`[ -d `+q+` ] && { rm -rf done/`+q+`; mv `+q+` done/`+q+` && touch done/`+q+`; }
find done -mindepth 1 -maxdepth 1 -mtime +`+strconv.Itoa(days)+` 2>/dev/null | head -n `+strconv.Itoa(maxSwept)+` | while read -r d; do rm -rf "$d"; done
exit 0`)
}

// noted are the files that work and pilots leave in their folders, and what a run leaves for a
// pilot: short ones, of lines key=value.
const noted = "begun exit grant in go leave"

// maxFolders bounds the folders whose files a look shows.
const maxFolders = 2000

// notes is a shell's text that prints the notes of a folder, or of all; it runs in the folder of
// folders.
func notes(names string) string {
	return `n=0
for d in ` + names + `; do
  [ -d "$d" ] && [ "$d" != done ] || continue
  n=$((n + 1)); [ "$n" -le ` + strconv.Itoa(maxFolders) + ` ] || { echo "more than ` + strconv.Itoa(maxFolders) + ` folders are there" >&2; exit 1; }
  printf '= %s\n' "$d"
  for f in ` + noted + `; do
    [ -f "$d/$f" ] && [ ! -L "$d/$f" ] || continue
    echo "- $f"
    head -c 65536 "$d/$f" | sed 's/^/+/' || exit
    echo
  done
done
exit 0`
}

// readNotes reads what that prints: by folder and file, its keys.
func readNotes(text []byte) map[string]map[string]map[string]string {
	all := map[string]map[string]map[string]string{}
	name, file := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch mark, rest, _ := strings.Cut(line, " "); {
		case mark == "=":
			if name, file = rest, ""; plainName(name) {
				all[name] = map[string]map[string]string{}
			}
		case mark == "-" && all[name] != nil:
			file = rest
			all[name][file] = map[string]string{}
		case strings.HasPrefix(line, "+") && file != "":
			if key, value, ok := strings.Cut(line[1:], "="); ok {
				all[name][file][key] = value
			}
		}
	}
	return all
}

// skewed is how far the clock there may be from ours beside half of the call that asked for it.
const skewed = 2 * grid.Second

// lookAfar is a look in one call, with what the folder has.
func (d *Driver) lookAfar(ctx context.Context) (*grid.Look, error) {
	folder := ssh.Step{Name: "folder", Shell: d.afar.in() + notes("*")}
	look, parts, err := lookOver(ctx, d.c, d.cfg.Now, folder)
	if err != nil {
		return nil, err
	}
	text, err := result(folder.Name, parts[folder.Name])
	if err != nil {
		return nil, err
	}
	all := readNotes(text)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { // pilots that have begun, and what is in them
		return all[name]["in"] != nil || all[name]["grant"] != nil && all[name]["begun"] != nil
	})
	d.complete(ctx, look, names, func(name string) (traces, error) {
		return readTraces(name, all[name]["begun"], all[name]["exit"])
	})
	d.afar.pilots(look, all)
	return look, nil
}

// LookOver is Look in one call of a shell, whose machine has the same clock.
func LookOver(ctx context.Context, h *ssh.Host) (*grid.Look, error) {
	look, _, err := lookOver(ctx, Commands{Shell: h}, wallClock)
	return look, err
}

// lookOver looks in one call of which other steps are a part too.
func lookOver(ctx context.Context, c Commands, now func() grid.Time, more ...ssh.Step) (*grid.Look, map[string]ssh.Part, error) {
	set := c.setting()
	before := now()
	a, err := c.Shell.Call(ctx, cmp.Or(c.Limit, lookLimit), append([]ssh.Step{
		{Name: "date", Shell: "date +%s"},
		{Name: "squeue", Shell: set + "squeue --all --states=all --json"},
		{Name: "sinfo", Shell: set + "sinfo --all -N --json"},
		{Name: "scontrol", Shell: set + "scontrol show res -o"},
		{Name: "partitions", Shell: set + "scontrol show partition -o"}}, more...)...)
	if err != nil {
		return nil, nil, err
	}
	after := now()
	text := map[string][]byte{}
	for _, name := range []string{"date", "squeue", "sinfo", "scontrol"} {
		if text[name], err = result(name, a.Parts[name]); err != nil {
			return nil, nil, err
		}
	}
	if err := clockFits(text["date"], before, after); err != nil {
		return nil, nil, err
	}
	p := &Printed{At: before, Jobs: text["squeue"], Nodes: text["sinfo"], Reservations: text["scontrol"], Partitions: a.Parts["partitions"].Out}
	look, err := p.Read()
	return look, a.Parts, err
}

// lookLimit bounds a look of one call.
const lookLimit = 50 * time.Second

// clockFits compares the clock there with the middle of the call. It was read in whole seconds.
func clockFits(date []byte, before, after grid.Time) error {
	there, err := strconv.ParseInt(strings.TrimSpace(string(date)), 10, 64)
	if err != nil || there < 0 || there > int64(grid.MaxTime)/1000 {
		return fmt.Errorf("date +%%s printed %.40q", date)
	}
	half := after.Sub(before) / 2
	off := instant(there).Add(grid.Second / 2).Sub(before.Add(half))
	if most := skewed + half; off > most || off < -most {
		return fmt.Errorf("its clock is %v s from ours; they must agree to %s beside half of the call, which took %s: have NTP set both", off, skewed.Words(), (2 * half).Words())
	}
	return nil
}

// setting is a shell's text that gives Slurm's commands the environment of every call.
func (c Commands) setting() string {
	text := `for v in $(env | sed -n 's/^\(SLURM_[A-Za-z0-9_]*\)=.*/\1/p; s/^\(SBATCH_[A-Za-z0-9_]*\)=.*/\1/p'); do [ "$v" = SLURM_CONF ] || unset "$v"; done
export SLURM_TIME_FORMAT=%s TZ=UTC LC_ALL=C
`
	if c.Folder != "" {
		text += "export PATH=" + ssh.Quote(c.Folder) + ":$PATH\n"
	}
	if c.Conf != "" {
		text += "export SLURM_CONF=" + ssh.Quote(c.Conf) + "\n"
	}
	return text
}

// runAfar runs one command in the shell.
func (c Commands) runAfar(ctx context.Context, input, name string, args []string) ([]byte, error) {
	line := ssh.Quote(name)
	for _, a := range args {
		line += " " + ssh.Quote(a)
	}
	if input != "" {
		line = ssh.File(line, input)
	}
	a, err := c.Shell.Call(ctx, c.Limit, ssh.Step{Name: "command", Shell: c.setting() + line})
	if err != nil {
		return nil, err
	}
	said := name
	if len(args) > 0 {
		said += " " + args[0]
	}
	return result(said, a.Parts["command"])
}
