package process

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

// Users of several VOs may have one account: it is tried once, and remarked on once.
func TestBehind_TriesEachAccountOnce(t *testing.T) {
	t.Parallel()
	var tried []string
	b := behind{account: func(as string) (string, error) {
		tried = append(tried, as)
		return "account " + as, nil
	}}
	remarks, err := b.accounts([]configs.Account{{User: "a/*", As: "pool"}, {User: "b/*", As: "pool"}, {User: "b/ana", As: "ana"}})
	if err != nil || len(tried) != 2 || len(remarks) != 2 || remarks[0] != "account pool" || remarks[1] != "account ana" {
		t.Errorf("tried %q, remarks %q, %v", tried, remarks, err)
	}
}

// A user's job must not be able to read the site's key: with it, it would be the site.
func TestSite_RefusesAccountsThatCanOpenItsKeysUnlessItsFileSaysSo(t *testing.T) {
	t.Parallel()
	as := "nobody"
	if os.Geteuid() != 0 {
		u, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		as = u.Username
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "site.key")
	cfg := &configs.SiteProcess{}
	cfg.ProofKey = key
	check := keptApart(cfg, func(string) (string, error) { return "a remark", nil })
	expect := func(what string, mode os.FileMode, refused bool, words string) {
		t.Helper()
		if err := os.WriteFile(key, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		remark, err := check(as)
		text := remark
		if err != nil {
			text = err.Error()
		}
		if (err != nil) != refused || !strings.Contains(text, words) {
			t.Errorf("%s: %q, %v", what, remark, err)
		}
	}
	if os.Geteuid() == 0 {
		expect("a key that only root can open", 0o600, false, "a remark")
	}
	expect("a key that it can open", 0o644, true, key+", which is the site's own")
	cfg.Cluster.SameAccount = true
	expect("allowed", 0o644, false, "Any user can act as this site")
}

func TestJournal_OpenToOthersIsRefusedAsAKeyIs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "site-north")
	file := filepath.Join(dir, "0001")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		folder, file os.FileMode
		words        string
	}{{0o700, 0o600, ""}, {0o700, 0o644, ""}, {0o777, 0o600, "chmod 700 " + dir}, {0o750, 0o600, "chmod 700 " + dir}, {0o700, 0o666, "chmod 600 " + file}} {
		for name, mode := range map[string]os.FileMode{dir: x.folder, file: x.file} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := private(dir); (err == nil) != (x.words == "") || err != nil && !strings.Contains(err.Error(), x.words) {
			t.Errorf("%#o %#o: %v", x.folder, x.file, err)
		}
	}
}
