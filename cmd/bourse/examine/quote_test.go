package examine

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// The standard input is settled by what it holds: a batch or a script is a dry run, a snapshot is
// priced, and what is none of them is said where a batch is read.
func TestQuote_StandardInputIsKnownByWhatItHolds(t *testing.T) {
	t.Parallel()
	const (
		batch = "[[job]]\nname = \"a\"\nnodes = 1\nlength = \"1h\"\n"
		site  = "name = \"s\"\npolicy = \"easy\"\n[[group]]\nname = \"main\"\nnodes = 5\nperformance = 1.0\nprice = 1.0\n"
		look  = "\n {\"at\": 1760000000, \"source\": \"here\", \"nodes\": [{\"name\": \"n1\", \"state\": \"up\", \"cpus\": 1, \"partitions\": [\"main\"]}], \"jobs\": [], \"reservations\": []}"
	)
	ask := func(text string, args ...string) (out, dried string, err error) {
		cmd := newQuote(func(_ context.Context, file string, _ flags.Calling, in io.Reader, _, _ io.Writer) error {
			if file == "-" {
				read, err := io.ReadAll(in)
				dried = string(read)
				return err
			}
			dried = file
			return nil
		})
		var said bytes.Buffer
		cmd.SetIn(strings.NewReader(text))
		cmd.SetOut(&said)
		cmd.SetErr(io.Discard)
		cmd.SetArgs(args)
		err = cmd.Execute()
		return said.String(), dried, err
	}
	for _, text := range []string{batch, "#!/bin/sh\n#BOURSE length = 1h\n", "[[job\n", "hello"} {
		if _, dried, err := ask(text, "-"); err != nil || dried != text {
			t.Errorf("%q: %q, %v", text, dried, err)
		}
	}
	for _, text := range []string{site, look} {
		if out, dried, err := ask(text, "-", "--nodes", "1", "--duration", "1h"); err != nil || dried != "" || !strings.Contains(out, "1 node for 1h on") {
			t.Errorf("%q: %q, %q, %v", text, dried, out, err)
		}
		if _, _, err := ask(text, "-"); err == nil || !strings.Contains(err.Error(), `"duration", "nodes"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, dried, err := ask(batch, "-", "--nodes", "1", "--duration", "1h"); err == nil || dried != "" || !strings.HasPrefix(err.Error(), "standard input: this is a batch of jobs") {
		t.Errorf("%q, %v", dried, err)
	}
	// A file that is meant to be a batch is read as one; one that is not there is not.
	broken := filepath.Join(t.TempDir(), "b.toml")
	if err := os.WriteFile(broken, []byte("[[job\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, dried, err := ask("", broken); err != nil || dried != broken {
		t.Errorf("%q, %v", dried, err)
	}
	if _, dried, err := ask("", broken+"x.toml"); err == nil || dried != "" {
		t.Errorf("%q, %v", dried, err)
	}
}
