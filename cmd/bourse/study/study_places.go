package study

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/workload"
)

// signs tell the logs of the archive, and what is derived from them, by their headers or by the
// names of their files.
var signs = []struct {
	archive                string
	installation, computer string // parts of the header's
	file                   string // a part of the file's name, or of a note on where it came from
}{
	{"SDSC SP2", "SDSC", "SP2", "SDSC-SP2"},
	{"CTC SP2", "Cornell Theory Center", "SP2", "CTC-SP2"},
	{"KTH SP2", "(KTH)", "SP2", "KTH-SP2"},
	{"LCG", "LCG", "", "LCG-2005"},
}

// recognised is the log that a file is, by the archive's name; "": none that is known, or what
// can be read only once. Cost: the file is read.
func recognised(path string) (string, error) {
	if path == workload.Stdin {
		return "", nil
	}
	trace, err := workload.Open(path, workload.Options{})
	if err != nil {
		return "", err
	}
	h := &trace.Header
	for _, s := range signs {
		if strings.Contains(h.Get("Installation"), s.installation) && strings.Contains(h.Get("Computer"), s.computer) {
			return s.archive, nil
		}
	}
	said := strings.ToUpper(filepath.Base(path) + "\n" + strings.Join(h.Lines, "\n"))
	for _, s := range signs {
		if strings.Contains(said, s.file) {
			return s.archive, nil
		}
	}
	return "", nil
}

// placedFile is a file in the place of one of a study's logs.
type placedFile struct {
	path string
	of   string // the log that it is, by itself or by who gave it; "": not known
}

// placed says which file is which of the logs that a study takes. One that is given as NAME=FILE,
// or that is recognised as one of them, has that place wherever it stands; each other has the
// first place that is left, unless the study refuses what it does not know.
func (s *studying) placed(takes []archived) ([]placedFile, error) {
	if len(s.traces) > len(takes) {
		return nil, fmt.Errorf("--trace %s: the study takes %d traces, %s; %d given", s.traces[len(takes)], len(takes), archives(takes), len(s.traces))
	}
	files := make([]placedFile, len(takes))
	var rest []placedFile
	for _, given := range s.traces {
		f, at, err := place(given, takes)
		switch {
		case err != nil:
			return nil, err
		case at >= 0 && files[at].path != "":
			return nil, fmt.Errorf("--trace %s: is %s, as %s is; give each log once, or say NAME=FILE, such as %s=%s", given, takes[at].archive, files[at].path, takes[0].name, f.path)
		case at >= 0:
			files[at] = f
		case s.known:
			return nil, fmt.Errorf("--trace %s: is none of %s by its header or name; say which with NAME=FILE, such as %s=%s", given, archives(takes), takes[0].name, f.path)
		default:
			rest = append(rest, f)
		}
	}
	for i := range files {
		if files[i].path == "" && len(rest) > 0 {
			files[i], rest = rest[0], rest[1:]
		}
	}
	return files, nil
}

// place is the file of a --trace and its place among the logs that a study takes; -1: anywhere.
func place(given string, takes []archived) (placedFile, int, error) {
	if name, path, ok := strings.Cut(given, "="); ok && path != "" {
		for i, a := range takes {
			if strings.EqualFold(name, a.name) || strings.EqualFold(name, a.archive) {
				return placedFile{path, a.archive}, i, nil
			}
		}
	}
	of, err := recognised(given)
	return placedFile{given, of}, slices.IndexFunc(takes, func(a archived) bool { return a.archive == of }), err
}

// archives are the names of logs in words.
func archives(takes []archived) string {
	var names []string
	for _, a := range takes {
		names = append(names, a.archive)
	}
	return strings.Join(names, ", ")
}
