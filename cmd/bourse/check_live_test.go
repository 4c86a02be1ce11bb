package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/federation"
)

// liveSite is the file of a site of processes of this machine, on ports that nobody has.
func liveSite(t *testing.T, as string) string {
	t.Helper()
	return fmt.Sprintf("name = \"north\"\n[[group]]\nname = \"main\"\nnodes = 1\nprice = 1.0\n[listen]\naddress = \"127.0.0.1:27411\"\n[gossip]\naddress = \"127.0.0.1:27412\"\nvo = \"vo1\"\n"+
		"[tls]\nplain = true\n[journal]\ndir = %q\n[cluster]\nkind = \"local\"\nfolder = %q\n[[account]]\nuser = \"*\"\nas = %q\n",
		filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "work"), as)
}

func TestCheckLive_SaysOfEachWhetherItIsThere(t *testing.T) {
	t.Parallel()
	as, err := federation.WorkAccount()
	if err != nil {
		t.Skip(err)
	}
	out, err := checkFile(t, liveSite(t, as), "--live")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, line := range []string{"ok       certificates: ", " ports: 127.0.0.1:27411", "ok       journal: ", "ok       folder: ", "ok       accounts: work can run as 1 of 1"} {
		if !strings.Contains(out, line) {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
	out, err = checkFile(t, liveSite(t, "no-such-account"), "--live", "--json")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "1 of 6 checks") {
		t.Errorf("exit status %d, %v", exitCode(err), err)
	}
	var said struct {
		Kind string
		Live []process.Finding
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Kind != "site process" || len(said.Live) != 6 {
		t.Fatalf("%v\n%s", err, out)
	}
	if last := said.Live[5]; last.Check != "accounts" || last.State != process.FoundMissing || !strings.Contains(last.Words, "no-such-account") {
		t.Errorf("%+v", last)
	}
}

func TestCheckLive_IsForASitesProcess(t *testing.T) {
	t.Parallel()
	_, err := checkFile(t, "[[job]]\nname = \"a\"\nnodes = 1\nlength = \"1h\"\nmin_performance = 1.0\nmax_price = 1.0\n", "--live")
	if exitCode(err) != 2 || !strings.Contains(fmt.Sprint(err), "--live is for that of a site's process") {
		t.Errorf("exit status %d, %v", exitCode(err), err)
	}
}
