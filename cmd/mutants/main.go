// Mutants changes the code of a package at one place after the other and runs its
// tests: a change that no test notices is a boundary that nobody holds.
//
// All changes go into one build, each in a copy of its function's body that runs where
// it is switched on, so that a package is compiled once and not for every change. What
// is drawn follows from the seed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	count := flag.Int("count", 60, "how many changes of a package")
	seed := flag.Uint64("seed", 1, "which ones are drawn")
	skip := flag.String("skip", "^$", "tests that are left out, a regular expression: long ones, to have it done sooner")
	only := flag.String("only", "", "draw only changes whose names match a regular expression: names are those that survivors are told by")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "mutants: name a package, from the root of the module: go run ./cmd/mutants ./policy/search")
		os.Exit(2)
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants: -only:", err)
		os.Exit(2)
	}
	for _, dir := range flag.Args() {
		if err := run(filepath.Clean(dir), *count, *seed, *skip, wanted); err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", dir, err)
			os.Exit(1)
		}
	}
}

// run draws changes of a package and tells what became of each.
func run(dir string, count int, seed uint64, skip string, only *regexp.Regexp) error {
	same, err := equivalent()
	if err != nil {
		return err
	}
	sources, err := read(dir)
	if err != nil {
		return err
	}
	var list []mutant
	for _, s := range sources {
		list = append(list, s.mutants()...)
	}
	for i := range list {
		list[i].number = i + 1
	}
	if err := named(dir, same, list); err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(m mutant) bool { return !only.MatchString(m.name()) })
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(2*count, len(list))] // some do not compile
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary := filepath.Join(work, "test")
	if list, err = compile(dir, work, binary, sources, list); err != nil {
		return err
	}
	list = list[:min(count, len(list))]
	said, took, err := test(dir, binary, skip, 0, 10*time.Minute)
	if err != nil {
		return fmt.Errorf("its tests fail without any change: %w\n%s", err, said)
	}
	killed, alike := 0, 0
	for _, m := range list {
		_, _, err := test(dir, binary, skip, m.number, 3*time.Second+5*took)
		switch why, known := same[m.name()]; {
		case err != nil:
			killed++
			if known {
				fmt.Printf("%s  said to be equivalent (%s), and a test fails\n", m.name(), why)
			}
		case known:
			alike++
		default:
			fmt.Printf("%s:%d:%d survives: %s\n", m.source.name, m.line, m.column, m.name())
		}
	}
	fmt.Printf("%s: %d of %d killed, %d equivalent: %d %%\n", dir, killed, len(list), alike, 100*killed/max(1, len(list)-alike))
	return nil
}

// test runs the tests with one change switched on, 0: with none, and returns what they
// said and the processor time that they took. An error says that one failed, or took more
// of that than the limit, or too much memory; by the clock, a busy machine would make an
// error of a change that nobody notices. Tests that draw what they try draw the same each
// time, and as much as where they are not to be short; they do not look for a smaller case,
// and keep none: the next change would meet a test that nobody else has.
func test(dir, binary, skip string, number int, limit time.Duration) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // for who waits and does nothing
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 6000000; ulimit -t "$2"; exec "$0" -test.failfast -test.short -test.skip "$1"`, binary, skip, strconv.Itoa(int(limit/time.Second)))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "MUTANT="+strconv.Itoa(number), "RAPID_SEED=1", "RAPID_CHECKS=500", "RAPID_SHRINKTIME=0s", "RAPID_NOFAILFILE=true")
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, 0, err
	}
	return said, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// compile compiles the package's tests with all changes, but for those that the compiler
// refuses, and returns what is left.
func compile(dir, work, binary string, sources []*source, list []mutant) ([]mutant, error) {
	for range 5 {
		replace := map[string]string{}
		put := func(name, text string) error {
			from, err := filepath.Abs(filepath.Join(dir, name))
			replace[from] = filepath.Join(work, name)
			return errors.Join(err, os.WriteFile(replace[from], []byte(text), 0o666))
		}
		err := put("mutants_switch.go", sources[0].clause+"\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantOn, _ = strconv.Atoi(os.Getenv(\"MUTANT\"))\n")
		for _, s := range sources {
			err = errors.Join(err, put(s.name, s.with(list)))
		}
		text, _ := json.Marshal(map[string]any{"Replace": replace})
		overlay := filepath.Join(work, "overlay.json")
		if err = errors.Join(err, os.WriteFile(overlay, text, 0o666)); err != nil {
			return nil, err
		}
		said, err := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay="+overlay, "-o", binary, "./"+dir).CombinedOutput()
		if err == nil {
			return list, nil
		}
		bad := map[int]bool{}
		for _, m := range refused.FindAllSubmatch(said, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			bad[n] = true
		}
		if len(bad) == 0 {
			return nil, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(said))
		}
		list = slices.DeleteFunc(list, func(m mutant) bool { return bad[m.number] })
	}
	return nil, errors.New("the compiler goes on refusing changes")
}

// refused is an error of the compiler within a change: see source.with.
var refused = regexp.MustCompile(`(?m)mutant(\d+)\.go:\d+`)

// named tells of what is said to be equivalent in a package and is no change of it any
// more: its line was changed or has gone.
func named(dir string, same map[string]string, list []mutant) error {
	known := map[string]bool{}
	for i := range list {
		known[list[i].name()] = true
	}
	var unknown []string
	for name := range same {
		file, _, _ := strings.Cut(name, " ")
		if filepath.Dir(filepath.FromSlash(file)) == dir && !known[name] {
			unknown = append(unknown, name)
		}
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("no change is named so, correct cmd/mutants/equivalent.txt:\n%s", strings.Join(unknown, "\n"))
}

// equivalent reads which changes no test can notice, and why.
func equivalent() (map[string]string, error) {
	text, err := os.ReadFile("cmd/mutants/equivalent.txt")
	if err != nil {
		return nil, fmt.Errorf("run it from the root of the module: %w", err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, why, ok := strings.Cut(strings.TrimSpace(line), " # "); ok && line[0] != '#' {
			list[name] = why
		}
	}
	return list, nil
}
