package configs

import (
	"strings"
	"testing"
)

// "ana " would be another user than "ana", and looks the same everywhere.
func TestUser_ANameHasNoBlankAtItsEnds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ana ", " ana", "ana\u00a0"} {
		_, err := ParseBatch("wave.toml", []byte("[[job]]\nname = \"a\"\nuser = \""+name+"\"\nnodes = 1\nlength = \"1m\"\nbudget = 5\n"))
		if err == nil || !strings.Contains(err.Error(), "user") {
			t.Errorf("a job of %q: %v", name, err)
		}
	}
	text := "name = \"north\"\n[[group]]\nname = \"main\"\nnodes = 2\nprice = 1\n[cluster]\nkind = \"local\"\n[[account]]\nuser = \"ana \"\nas = \"ana\"\n" +
		"[listen]\naddress = \"127.0.0.1:7001\"\n[gossip]\naddress = \"127.0.0.1:7002\"\nvo = \"v\"\n[tls]\nplain = true\n"
	if _, err := ParseSiteProcess("site.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), "begins or ends with a blank") {
		t.Errorf("an account of \"ana \": %v", err)
	}
}
