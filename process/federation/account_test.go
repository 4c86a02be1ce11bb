package federation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

// bourse up runs in one command under a plain account, and says what that means.
func TestUp_SaysWhoseAccountWorkRunsUnder(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		as, words string
		same      bool
	}{{nobody, "All users share that account", false}, {"ana", "WARNING: the sites run as that account too", true}} {
		text := "name = \"north\"\n[[group]]\nname = \"main\"\nnodes = 2\nprice = 1\n" + clusterTables(x.as, "0.5", 1, 7000) +
			"[listen]\naddress = \"127.0.0.1:7001\"\n[gossip]\naddress = \"127.0.0.1:7002\"\nvo = \"v\"\n[tls]\nplain = true\n"
		cfg, err := configs.ParseSiteProcess("site.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Cluster.SameAccount != x.same || !strings.Contains(CommonAccount(x.as), x.words) {
			t.Errorf("%s: same_account %v, %q", x.as, cfg.Cluster.SameAccount, CommonAccount(x.as))
		}
	}
}

// check says of a valid file what its operator should know.
func TestCheck_WarnsOfWorkUnderTheSitesOwnAccount(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "site.toml")
	text := "name = \"north\"\n[[group]]\nname = \"main\"\nnodes = 2\nprice = 1\n" + clusterTables("ana", "0.5", 1, 7000) +
		"[listen]\naddress = \"127.0.0.1:7001\"\n[gossip]\naddress = \"127.0.0.1:7002\"\nvo = \"v\"\n[tls]\nplain = true\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := configs.Check(file)
	if err != nil || len(found.Warnings) != 1 || !strings.Contains(found.Warnings[0], "Any user can then act as the site") {
		t.Errorf("%+v, %v", found, err)
	}
}
