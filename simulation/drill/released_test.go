//go:build linux

package drill

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"
)

var last = flag.String("drill.last", "", "the commit to upgrade from, in place of the last release")

// release is the last release, built from its commit once for all tests.
type release struct {
	version, commit string
	program         string
	shallow         string // why it cannot be had from this tree; "": it can
	err             error
}

// releaseFolder is where it is built; TestMain takes it away.
var releaseFolder string

// lastRelease builds the last release. A tree that has not its commit skips the test, and
// says so.
func lastRelease(t *testing.T) *release {
	t.Helper()
	thorough.Only(t, "builds the last release and starts processes")
	r := buildRelease()
	if r.shallow != "" {
		t.Skipf("%s, commit %s, cannot be built from this tree, so that nobody has upgraded from it: %s", r.version, r.commit, r.shallow)
	}
	must(t, r.err)
	return r
}

var buildRelease = sync.OnceValue(func() *release {
	r := &release{version: "the commit", commit: *last}
	if r.commit == "" {
		if r.version, r.commit, r.err = lastLine("../../cmd/bourse/version/releases.txt"); r.err != nil {
			return r
		}
	}
	if out, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output(); err != nil {
		r.shallow = "it is no clone of the repository"
		return r
	} else if exec.Command("git", "cat-file", "-e", r.commit+"^{commit}").Run() != nil {
		if strings.TrimSpace(string(out)) == "true" {
			r.shallow = "the clone is shallow; git fetch --unshallow brings the rest"
		} else {
			r.err = fmt.Errorf("%s is commit %s, which this clone does not have", r.version, r.commit)
		}
		return r
	}
	r.err = r.build()
	return r
})

// lastLine reads version and commit of the last line of the list of releases.
func lastLine(name string) (version, commit string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }()
	var day string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' {
			if _, err := fmt.Sscan(line, &version, &day, &commit); err != nil {
				return "", "", fmt.Errorf("%s: %q: %w", name, line, err)
			}
		}
	}
	return version, commit, nil
}

// build takes the files out of the clone and builds them. What has not changed since comes
// out of Go's build cache, as long as no folder's name is in what is compiled.
func (r *release) build() error {
	var err error
	if releaseFolder, err = os.MkdirTemp("", "drill-release-"); err != nil {
		return err
	}
	files := filepath.Join(releaseFolder, "files")
	r.program = filepath.Join(releaseFolder, "bourse")
	const variables = "github.com/bourse-grid/bourse/cmd/bourse/version."
	script := fmt.Sprintf(`set -e -o pipefail
mkdir %[1]s
git -C "$(git rev-parse --show-toplevel)" archive %[2]s | tar -x -C %[1]s
cd %[1]s && go build -trimpath -buildvcs=false -ldflags '-X %[3]srelease=%[4]s -X %[3]scommit=%[2]s' -o ../bourse ./cmd/bourse
rm -r %[1]s`, files, r.commit, variables, strings.ReplaceAll(r.version, " ", "-"))
	if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
		return fmt.Errorf("%s, commit %s, does not build: %w\n%s", r.version, r.commit, err, out)
	}
	return nil
}
