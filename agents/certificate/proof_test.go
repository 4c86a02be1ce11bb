package certificate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
)

// The key is made at the first start, for its owner only, and is the same ever
// after; one that others can read, or that is damaged, is refused and never made
// anew by itself.
func TestProofKey_IsMadeOnceAndKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "site-north.proof")
	key, made, err := ProofKey(file)
	if err != nil || !made || len(key) != agents.KeySize {
		t.Fatalf("%d bytes, made %t, %v", len(key), made, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", info, err)
	}
	again, made, err := ProofKey(file)
	if err != nil || made || !slices.Equal(again, key) {
		t.Errorf("the second start: made %t, %v, the same key: %t", made, err, slices.Equal(again, key))
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ProofKey(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
	for _, text := range []string{"", "AAAA\n", "no base64"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ProofKey(file); err == nil || !strings.Contains(err.Error(), "put the file back") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := ProofKey(filepath.Join(t.TempDir(), "none", "x.proof")); err == nil || !strings.Contains(err.Error(), "proof_key") {
		t.Errorf("in a folder that there is not: %v", err)
	}
}
