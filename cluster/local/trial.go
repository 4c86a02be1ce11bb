package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Try says why work could not run as an account in a folder, as Driver.Check does, without
// making anything. remark is what an operator should know even if it can.
func Try(folder, name string) (remark string, err error) {
	self, err := ownAccount()
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	d := &Driver{cfg: Config{Folder: folder}, self: self}
	if _, err := os.Stat(d.ended("")); errors.Is(err, fs.ErrNotExist) {
		_, err := d.account(name)
		return "", err
	}
	return d.Check(name)
}
