package journal

import "errors"

// Disk is what a journal needs of a file system: one flat folder of files that
// grow at their end. Folder is one on a real disk, Memory one that forgets what
// was not synced and can be made to fail.
//
// What Append has written may be lost by a crash until Sync of that file has
// returned nil, and what Rename and Remove did until SyncNames has; any of the
// bytes and any of the names in between may survive.
type Disk interface {
	// Names lists the files, sorted.
	Names() ([]string, error)
	// Read returns the whole of a file.
	Read(name string) ([]byte, error)
	// Append writes at the end of a file, which it makes if there is none.
	Append(name string, data []byte) error
	// Truncate cuts a file to size bytes, durably.
	Truncate(name string, size int64) error
	// Sync makes the content of a file durable.
	Sync(name string) error
	// Rename gives a file another name, in place of the file that has it.
	Rename(from, to string) error
	// Remove deletes a file.
	Remove(name string) error
	// SyncNames makes renames, removals and new files durable.
	SyncNames() error
}

// giveName has what was written beside last, under its name.
func giveName(d Disk, beside, name string) error {
	for _, step := range []func() error{
		func() error { return d.Sync(beside) },
		func() error { return d.Rename(beside, name) },
		d.SyncNames,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ErrFull is what a Memory disk fails with when it has no room.
var ErrFull = errors.New("no space left on the disk")
