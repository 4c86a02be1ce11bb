package journal

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
)

// claimFile says whose mirror a folder is. The same word is beside the journal and beside
// its mirror; Restore writes a new one to both.
const claimFile = "mirror.json"

type claim struct {
	Claim string `json:"claim"`
}

func newClaim() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// readClaim returns the claim on a disk, "" if there is none.
func readClaim(disk Disk) (string, error) {
	names, err := disk.Names()
	if err != nil || !slices.Contains(names, claimFile) {
		return "", err
	}
	text, err := disk.Read(claimFile)
	if err != nil {
		return "", err
	}
	var c claim
	if err := json.Unmarshal(text, &c); err != nil || c.Claim == "" {
		return "", &CorruptError{place(disk, claimFile), 0, "it does not say whose mirror this is; bring it back from the other side"}
	}
	return c.Claim, nil
}

func writeClaim(disk Disk, word string) error {
	text, err := json.Marshal(claim{word})
	if err != nil {
		return err
	}
	return putFile(disk, claimFile, bytes.NewReader(append(text, '\n')))
}

// agree compares the claims of both disks, and writes them at the first start.
func (m *Mirror) agree(second Disk) error {
	has, err := segments(m.main)
	if err != nil {
		return err
	}
	kept, err := segments(second)
	if err != nil {
		return err
	}
	theirs, err := readClaim(second)
	switch {
	case err != nil:
		return err
	case len(has) == 0 && len(kept) > 0:
		return errors.New("it holds a journal, and there is none here: bring it back with bourse journal restore or, if that is not to be gone on with, use an empty mirror")
	case theirs == "" && len(kept) > 0:
		return errors.New("it holds a journal that is nobody's mirror, such as a copy; use an empty mirror")
	case theirs != "" && m.claim == "":
		return errors.New("it is the mirror of another journal; if this one was put in place by hand, bring it back with bourse journal restore, or use an empty mirror")
	case theirs != "" && theirs != m.claim:
		return ErrFenced
	case theirs == m.claim && theirs != "":
		return nil
	}
	if m.claim == "" {
		m.claim = newClaim()
		if err := writeClaim(m.main, m.claim); err != nil {
			return err
		}
	}
	if err := m.main.SyncNames(); err != nil { // an earlier start may have failed to
		return err
	}
	return writeClaim(second, m.claim)
}

// ours returns an error unless the second disk is still this journal's.
func (m *Mirror) ours(second Disk) error {
	switch theirs, err := readClaim(second); {
	case err != nil:
		return err
	case theirs == "":
		return errors.New("what was there is gone")
	case theirs != m.claim:
		return ErrFenced
	}
	return nil
}
