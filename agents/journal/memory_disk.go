package journal

import (
	"fmt"
	"maps"
	"slices"
)

// Memory is a disk in memory for simulations and tests. It separates what is synced from
// what is only written, loses the latter in a Crash, and fails where Fault says so. The
// zero Memory is an empty disk.
type Memory struct {
	// Fault is called before every operation. If it returns an error, the operation fails
	// and does nothing. nil: nothing fails.
	Fault func(op Op, name string) error
	// Room is how many bytes the disk holds in all. An append beyond it writes what still
	// fits and fails with ErrFull. 0: no bound.
	Room int
	// Forgets makes a Sync that fails the last word on its file: whatever a later one says,
	// nothing more of that file becomes durable until a Crash. So do systems that drop what
	// they could not write.
	Forgets bool

	files   map[string]*memoryFile // by current name
	durable map[string]*memoryFile // by name after a crash
	lies    bool
	orders  []map[string]*memoryFile // files, as it was after each change since the disk began to lie
}

// memoryFile is the content of one file.
type memoryFile struct {
	data   []byte
	synced int  // bytes that survive a crash
	stuck  bool // no sync adds to them any more; see Memory.Forgets
}

// Op is an operation on a disk.
type Op uint8

// The operations of a disk that change something or can fail.
const (
	OpRead Op = iota
	OpAppend
	OpTruncate
	OpSync
	OpRename
	OpRemove
	OpSyncNames
)

var ops = [...]string{"read", "append", "truncate", "sync", "rename", "remove", "sync-names"}

func (o Op) String() string { return ops[o] }

func (m *Memory) fault(op Op, name string) error {
	if m.Fault == nil {
		return nil
	}
	return m.Fault(op, name)
}

func (m *Memory) file(name string) (*memoryFile, error) {
	if f := m.files[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%s: no such file", name)
}

// Names lists the files, sorted.
func (m *Memory) Names() ([]string, error) {
	return slices.Sorted(maps.Keys(m.files)), nil
}

// Read returns a copy of a file.
func (m *Memory) Read(name string) ([]byte, error) {
	if err := m.fault(OpRead, name); err != nil {
		return nil, err
	}
	f, err := m.file(name)
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.data), nil
}

// Append writes at the end of a file.
func (m *Memory) Append(name string, data []byte) error {
	if err := m.fault(OpAppend, name); err != nil {
		return err
	}
	f := m.files[name]
	if f == nil {
		f = &memoryFile{}
		if m.files == nil {
			m.files = map[string]*memoryFile{}
		}
		m.files[name] = f
		m.renamed()
	}
	if left := m.Room - m.Size(); m.Room > 0 && len(data) > left {
		f.data = append(f.data, data[:max(left, 0)]...)
		return fmt.Errorf("%s: %w", name, ErrFull)
	}
	f.data = append(f.data, data...)
	return nil
}

// Truncate cuts a file, durably.
func (m *Memory) Truncate(name string, size int64) error {
	if err := m.fault(OpTruncate, name); err != nil {
		return err
	}
	f, err := m.file(name)
	if err != nil {
		return err
	}
	f.data = f.data[:size]
	f.synced = min(f.synced, len(f.data))
	f.settle()
	return nil
}

// Sync makes the content of a file durable, unless the disk lies or has forgotten it.
func (m *Memory) Sync(name string) error {
	f, err := m.file(name)
	if failed := m.fault(OpSync, name); failed != nil {
		if err == nil && m.Forgets {
			f.stuck = true
		}
		return failed
	}
	if err != nil {
		return err
	}
	if !m.lies {
		f.settle()
	}
	return nil
}

// settle makes the content durable.
func (f *memoryFile) settle() {
	if !f.stuck {
		f.synced = len(f.data)
	}
}

// Rename gives a file another name.
func (m *Memory) Rename(from, to string) error {
	if err := m.fault(OpRename, from); err != nil {
		return err
	}
	f, err := m.file(from)
	if err != nil {
		return err
	}
	delete(m.files, from)
	m.files[to] = f
	m.renamed()
	return nil
}

// Remove deletes a file.
func (m *Memory) Remove(name string) error {
	if err := m.fault(OpRemove, name); err != nil {
		return err
	}
	if _, err := m.file(name); err != nil {
		return err
	}
	delete(m.files, name)
	m.renamed()
	return nil
}

// SyncNames makes the names durable, unless the disk lies.
func (m *Memory) SyncNames() error {
	if err := m.fault(OpSyncNames, ""); err != nil {
		return err
	}
	if !m.lies {
		m.durable = maps.Clone(m.files)
	}
	return nil
}

// Size returns the total bytes of all files.
func (m *Memory) Size() int {
	n := 0
	for _, f := range m.files {
		n += len(f.data)
	}
	return n
}

// Crash loses what was not made durable. keep returns how many bytes of a file survive,
// between synced, which are certain, and written; nil keeps synced. With names the last
// renames and removals survive too, otherwise they are undone.
func (m *Memory) Crash(keep func(name string, synced, written int) int, names bool) {
	if !names {
		m.files = maps.Clone(m.durable)
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		f := m.files[name]
		n := f.synced
		if keep != nil {
			n = min(max(keep(name, f.synced, len(f.data)), f.synced), len(f.data))
		}
		*f = memoryFile{data: f.data[:n], synced: n}
	}
	m.durable = maps.Clone(m.files)
}

// Lie makes the disk say from now on that it has made durable what it has not, until
// FailPower or Settle.
func (m *Memory) Lie() {
	m.lies = true
	m.orders = []map[string]*memoryFile{maps.Clone(m.durable), maps.Clone(m.files)}
}

// renamed takes note of a change of names on a disk that lies.
func (m *Memory) renamed() {
	if m.lies {
		m.orders = append(m.orders, maps.Clone(m.files))
	}
}

// FailPower ends a lie. Of the n changes of names since it began the first names(n) have
// happened. content returns what is there of a file, of whose data, which it may change,
// synced bytes are certain.
func (m *Memory) FailPower(names func(n int) int, content func(data []byte, synced int) []byte) {
	m.files = m.orders[names(len(m.orders)-1)]
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		f := m.files[name]
		f.data = content(f.data, f.synced)
		f.synced = len(f.data)
	}
	m.durable, m.lies, m.orders = maps.Clone(m.files), false, nil
}

// Settle ends a lie: the disk makes everything durable.
func (m *Memory) Settle() {
	for _, f := range m.files {
		f.synced = len(f.data)
	}
	m.durable, m.lies, m.orders = maps.Clone(m.files), false, nil
}

// Clone returns a copy that shares nothing, as an old state of the disk to return to. The
// copy has no Fault. That of a disk that lies has what the disk says, for good.
func (m *Memory) Clone() *Memory {
	c := &Memory{Room: m.Room, Forgets: m.Forgets, files: map[string]*memoryFile{}, durable: map[string]*memoryFile{}}
	copies := map[*memoryFile]*memoryFile{}
	for _, pair := range []struct{ from, to map[string]*memoryFile }{{m.files, c.files}, {m.durable, c.durable}} {
		for name, f := range pair.from {
			if copies[f] == nil {
				copies[f] = &memoryFile{slices.Clone(f.data), f.synced, f.stuck}
			}
			pair.to[name] = copies[f]
		}
	}
	if m.lies {
		c.Settle()
	}
	return c
}

// Flip inverts one bit of a file; bit counts from the first byte's lowest.
func (m *Memory) Flip(name string, bit int) {
	m.files[name].data[bit/8] ^= 1 << (bit % 8)
}

// Write puts a file onto the disk, durably, as if copied from elsewhere.
func (m *Memory) Write(name string, data []byte) {
	f := &memoryFile{data: slices.Clone(data), synced: len(data)}
	if m.files == nil {
		m.files = map[string]*memoryFile{}
	}
	m.files[name] = f
	if m.durable == nil {
		m.durable = map[string]*memoryFile{}
	}
	m.durable[name] = f
}
