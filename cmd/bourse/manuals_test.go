package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// The files that a package carries beside the binary are made from the commands: a page of the
// manual for each, and completions for shells. This test makes them, so that the binary has none of
// that code: go test ./cmd/bourse -run TestManuals -manuals DIR. SOURCE_DATE_EPOCH is the date of
// the pages.
var manualsDir = flag.String("manuals", "", "write the pages of the manual and the completions of shells into this folder")

// manuals writes man1/*.1 and completions/* into a folder.
func manuals(dir string, date time.Time) error {
	pages, shells := filepath.Join(dir, "man1"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, shells} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root := newRoot()
	if err := root.GenBashCompletionFileV2(filepath.Join(shells, "bourse.bash"), true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(filepath.Join(shells, "_bourse")); err != nil {
		return err
	}
	if err := root.GenFishCompletionFile(filepath.Join(shells, "bourse.fish"), true); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	root.InitDefaultCompletionCmd()
	asMarkdown(root)
	return doc.GenManTree(root, &doc.GenManHeader{Date: &date, Source: "Bourse", Manual: "Bourse"}, pages)
}

// asMarkdown makes the page show the plain text of a command and of its subcommands as
// written, since the generator reads it as Markdown.
func asMarkdown(cmd *cobra.Command) {
	cmd.Long = markdown(cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = marks.Replace(f.Usage) })
	for _, c := range cmd.Commands() {
		asMarkdown(c)
	}
}

var marks = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`, "#", `\#`)

// markdown gives the Markdown of a text whose examples and lists are indented.
func markdown(text string) string {
	const fence = "```\n"
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if indented := line[0] == ' ' || line[0] == '\t'; indented != inside {
			b.WriteString("\n" + fence)
			inside = indented
		}
		if !inside {
			line = marks.Replace(line)
		}
		b.WriteString(line)
	}
	if inside {
		b.WriteString("\n" + fence)
	}
	return b.String()
}

func TestManuals_EveryCommandHasAPage(t *testing.T) {
	t.Parallel()
	dir, date := t.TempDir(), time.Unix(0, 0).UTC()
	if *manualsDir != "" {
		dir = *manualsDir
		epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
		if err != nil {
			t.Fatalf("SOURCE_DATE_EPOCH must be the date of the pages, in seconds since 1970: %v", err)
		}
		date = time.Unix(epoch, 0).UTC()
	}
	if err := manuals(dir, date); err != nil {
		t.Fatal(err)
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		page, err := os.ReadFile(filepath.Join(dir, "man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil || !bytes.Contains(page, []byte(".SH SYNOPSIS")) {
			t.Errorf("%s: %v, %d bytes", c.CommandPath(), err, len(page))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	for _, shell := range []string{"bourse.bash", "_bourse", "bourse.fish"} {
		text, err := os.ReadFile(filepath.Join(dir, "completions", shell))
		if err != nil || !bytes.Contains(text, []byte("__complete")) {
			t.Errorf("%s: %v, %d bytes", shell, err, len(text))
		}
	}
}

// Signs that Markdown gives a meaning are shown, and what is in columns stays so.
func TestManuals_ShowTheTextAsItIsWritten(t *testing.T) {
	t.Parallel()
	got := markdown("Writes [out] to <dir>_x*\nfor:\n\n  a.csv   one\n  b.csv   two\n\nThen more.\n  last = 1")
	want := "Writes \\[out] to \\<dir>\\_x\\*\nfor:\n\n\n```\n  a.csv   one\n  b.csv   two\n\n```\n\nThen more.\n\n```\n  last = 1\n```\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
