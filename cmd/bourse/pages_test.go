package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands that operators type from a page are understood: each command of bourse there is one of the
// tree, with flags and arguments that it takes.
func TestPages_EachCommandIsOneOfTheTree(t *testing.T) {
	t.Parallel()
	for page, least := range map[string]int{"RUNBOOK": 25, "ADOPT": 8, "SHADOW": 5, "SLURM": 1} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		lines := typedLines(string(text))
		if len(lines) < least {
			t.Errorf("docs/%s.md: %d commands, want at least %d", page, len(lines), least)
		}
		for _, line := range lines {
			if why := misread(line); why != "" {
				t.Errorf("docs/%s.md: %s: %s", page, line, why)
			}
		}
	}
	for line, want := range map[string]string{
		"bourse sites --nonsense":                  "unknown flag",
		"bourse journal burn /tmp":                 "burn",
		"bourse ca issue --role admin --name a":    "admin",
		"bourse site lost north south":             "one",
		"bourse drain north --until tomorrow":      "tomorrow",
		"bourse accounts deposit 5 --note 'a b' 6": "credits",
	} {
		if why := misread(line); !strings.Contains(why, want) {
			t.Errorf("%s: %q, want %q", line, why, want)
		}
	}
}

// typedLines are the commands of bourse in a page's blocks of shell, without comments and without
// what stands before or behind them in a line.
func typedLines(page string) (list []string) {
	code := false
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code && (line == "```sh" || line == "```bash")
			continue
		}
		if !code {
			continue
		}
		line, _, _ = strings.Cut(line, " #")
		for part := range strings.SplitSeq(strings.NewReplacer("&&", ";", "|", ";", "&", ";").Replace(line), ";") {
			words := shellWords(part)
			for len(words) > 0 && (words[0] == "sudo" || strings.Contains(words[0], "=")) {
				if words = words[1:]; len(words) > 1 && words[0] == "-u" {
					words = words[2:]
				}
			}
			if len(words) > 0 && words[0] == "bourse" {
				list = append(list, strings.TrimSpace(part))
			}
		}
	}
	return list
}

// misread says what bourse does not understand of a line; "" if it does.
func misread(line string) string {
	words := shellWords(line)
	for words[0] != "bourse" {
		words = words[1:]
	}
	for i, w := range words {
		if strings.HasPrefix(w, ">") || strings.HasPrefix(w, "2>") || w == "<" {
			words = words[:i]
			break
		}
	}
	cmd, rest, err := newRoot().Find(words[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err == nil && cmd.HasSubCommands() && !cmd.Runnable() && len(cmd.Flags().Args()) > 0 {
		return "no such command: " + cmd.Flags().Arg(0)
	}
	if err == nil {
		err = cmd.ValidateRequiredFlags()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// shellWords are the words of a line, with quotes taken off.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}
