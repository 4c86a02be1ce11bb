package flags

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Agrees asks a question, and reports whether the answer is yes. Nobody is asked where the
// input is no terminal: whoever has a program call the command has decided.
func Agrees(in io.Reader, stderr io.Writer, question string) bool {
	f, ok := in.(*os.File)
	return !ok || !term.IsTerminal(int(f.Fd())) || agrees(in, stderr, question)
}

func agrees(in io.Reader, stderr io.Writer, question string) bool {
	fmt.Fprint(stderr, question+" [y/N] ")
	line, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
