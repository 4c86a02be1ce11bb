package ssh

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// script is the text for sh -s. All of it is one function, which is called in the last line: a
// script that is cut off on its way does nothing.
func script(mark string, steps []Step) string {
	var b strings.Builder
	b.WriteString("bourse_main() {\n")
	for _, s := range steps {
		fmt.Fprintf(&b, "echo '%[1]s begin %[2]s'; echo '%[1]s begin %[2]s' >&2\n(\n%[3]s\n)\nbourse_status=$?\nprintf '\\n%%s %%s\\n' '%[1]s end %[2]s' $bourse_status; printf '\\n%%s\\n' '%[1]s end %[2]s' >&2\n",
			mark, s.Name, s.Shell)
	}
	fmt.Fprintf(&b, "echo '%s whole'\n}\nbourse_main </dev/null; exit 0\n", mark)
	return b.String()
}

// parse finds the parts of an answer, and says whether it is whole.
func parse(mark string, steps []Step, out, errs []byte) (map[string]Part, bool) {
	parts := map[string]Part{}
	for _, s := range steps {
		text, rest, found := between(out, mark, s.Name)
		if !found {
			return nil, false
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return nil, false
		}
		exit, err := strconv.ParseUint(string(bytes.TrimSpace(rest[:end])), 10, 8)
		if err != nil {
			return nil, false
		}
		p := Part{Out: text, Exit: int(exit)}
		out = rest[end+1:]
		if text, rest, found := between(errs, mark, s.Name); found {
			p.Errs, errs = text, rest
		}
		parts[s.Name] = p
	}
	return parts, bytes.HasPrefix(out, []byte(mark+" whole\n"))
}

// between is what stands between the marks of a step, and what comes after them.
func between(text []byte, mark, name string) (in, rest []byte, found bool) {
	_, text, found = bytes.Cut(text, []byte(mark+" begin "+name+"\n"))
	if !found {
		return nil, nil, false
	}
	return bytes.Cut(text, []byte("\n"+mark+" end "+name))
}

// Quote makes a shell take a text literally.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// File is the shell's text that gives a command an input: a here-document whose end cannot be
// in it. The input gets a line break at its end if it has none.
func File(command, input string) string {
	sum := sha256.Sum256([]byte(input)) // which the input cannot contain but by design
	end := "bourse-end-" + hex.EncodeToString(sum[:16])
	if input != "" && !strings.HasSuffix(input, "\n") {
		input += "\n"
	}
	return command + " <<'" + end + "'\n" + input + end
}

// brief is a short name for the socket of a destination.
func brief(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// lastLine is the last line of a text that is not empty, without what moves a cursor, at most 300
// bytes.
func lastLine(s string) string {
	last := ""
	for line := range strings.Lines(s) {
		line = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == '\uFFFD' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, ""))
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "bourse-") {
			last = line
		}
	}
	return strings.ToValidUTF8(last[:min(len(last), 300)], "")
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	b    bytes.Buffer
	most int
	over bool
	full func() // called once there is more; nil: the rest is dropped
}

// Write never fails.
func (w *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if left := w.most - w.b.Len(); n > left {
		p = p[:left]
		if !w.over && w.full != nil {
			w.full()
		}
		w.over = true
	}
	w.b.Write(p)
	return n, nil
}
