package journal

import "errors"

// Disk is what a journal needs of a file system: one flat folder of append-only files.
// Folder is one on a real disk. Memory is one that forgets what was not synced and can be
// made to fail.
//
// A crash may lose what Append has written until Sync of that file has returned nil, and
// what Rename and Remove did until SyncNames has. Any of the bytes and any of the names in
// between may survive.
type Disk interface {
	// Names lists the files, sorted.
	Names() ([]string, error)
	// Read returns the whole of a file.
	Read(name string) ([]byte, error)
	// Append writes at the end of a file, and creates it if there is none.
	Append(name string, data []byte) error
	// Truncate cuts a file to size bytes, durably.
	Truncate(name string, size int64) error
	// Sync makes the content of a file durable.
	Sync(name string) error
	// Rename gives a file another name, replacing the file that has it.
	Rename(from, to string) error
	// Remove deletes a file.
	Remove(name string) error
	// SyncNames makes renames, removals and new files durable.
	SyncNames() error
}

// giveName gives a file written under a temporary name its final name.
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

// ErrFull is the error of a Memory disk that has no room.
var ErrFull = errors.New("no space left on the disk")
