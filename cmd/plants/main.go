// Plants makes the overlay that puts all planted bugs into a build, and runs one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents/plant"
)

// folder is where the overlay goes: always the same, so that the build cache
// knows it again.
const folder = ".plants"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plants:", err)
		os.Exit(1)
	}
}

// run prints the flags of a build that has the bugs, or, with the name of one,
// lets the torture catch it.
func run(args []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run it from the root of the module: go run ./cmd/plants [NAME [FLAG OF TORTURE ...]]")
	}
	files, err := overlay(root, plant.List())
	if err != nil {
		return err
	}
	list, err := write(root, files)
	if err != nil {
		return err
	}
	flags := []string{"-tags=plants", "-overlay=" + list}
	if len(args) == 0 {
		fmt.Println(strings.Join(flags, " "))
		return nil
	}
	b, err := plant.Find(args[0])
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", b.Name, b.Breaks)
	if b.Caught != "" {
		test := exec.Command("go", append(append([]string{"test"}, flags...), "./"+b.Caught, "-count=1", "-v", "-run", "Plants/"+b.Name+"$")...)
		test.Stdout, test.Stderr = os.Stdout, os.Stderr
		return test.Run()
	}
	return caught(b, flags, args[1:])
}

// caught runs the torture with a bug, at the seed that is known to catch it
// unless the words say otherwise. It fails when no invariant is broken.
func caught(b plant.Bug, flags, words []string) error {
	bourse := filepath.Join(folder, "bourse")
	if out, err := exec.Command("go", append(append([]string{"build"}, flags...), "-o", bourse, "./cmd/bourse")...).CombinedOutput(); err != nil {
		return fmt.Errorf("the build with the planted bugs: %w\n%s", err, out)
	}
	cmd := exec.Command(bourse, append([]string{"torture", "--plant", b.Name, "--start", strconv.FormatUint(b.Seed, 10), "--seeds", "1"}, words...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	if err == nil {
		err = errors.New("nobody notices; other seeds: --start 1 --seeds 200")
	}
	return err
}

// write writes the files and the list of them that go build reads.
func write(root string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for name, text := range files {
		to := filepath.Join(root, folder, name+".txt") // gofmt leaves it alone
		replace[filepath.Join(root, name)] = to
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	list := filepath.Join(root, folder, "overlay.json")
	return list, os.WriteFile(list, append(text, '\n'), 0o666)
}
