//go:build linux

package local

import (
	"os"
	"path/filepath"
	"testing"
)

// At the first start of a site its journal and some keys are not there yet. Work under the
// site's own account could open them as soon as they are.
func TestOpens_WhatTheSiteMakesLaterIsOpenToItsOwnAccount(t *testing.T) {
	t.Parallel()
	self, err := ownAccount()
	if err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(t.TempDir(), "journal")
	if open, err := Opens(self.Name, []string{"", later}); open != later || err != nil {
		t.Errorf("its own account opens %q (%v), want %q", open, err, later)
	}
	if os.Geteuid() != 0 {
		return
	}
	if open, err := Opens(somebody(), []string{"", later}); open != "" || err != nil {
		t.Errorf("another account opens %q (%v), which is not there", open, err)
	}
}
