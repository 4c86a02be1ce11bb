package journal

import (
	"errors"
	"slices"
)

// Names lists the files of the main disk.
func (m *Mirror) Names() ([]string, error) { return m.main.Names() }

// Read reads from the main disk.
func (m *Mirror) Read(name string) ([]byte, error) { return m.main.Read(name) }

// Append writes at the end of a file on both disks.
func (m *Mirror) Append(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.main.Append(name, data); err != nil {
		return err
	}
	if m.link != nil {
		data = slices.Clone(data) // the caller will reuse its slice
	}
	return m.also(func(d Disk) error { return d.Append(name, data) })
}

// Truncate cuts a file on both disks, durably.
func (m *Mirror) Truncate(name string, size int64) error {
	return m.both(func(d Disk) error { return d.Truncate(name, size) })
}

// Sync makes the content of a file durable on both.
func (m *Mirror) Sync(name string) error {
	return m.both(func(d Disk) error { return d.Sync(name) })
}

// Rename gives a file on both disks another name.
func (m *Mirror) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.main.Rename(from, to); err != nil {
		return err
	}
	return m.also(func(d Disk) error { return d.Rename(from, to) })
}

// Remove deletes a file on both disks.
func (m *Mirror) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.main.Remove(name); err != nil {
		return err
	}
	return m.also(func(d Disk) error { return d.Remove(name) })
}

// SyncNames makes the names on both disks durable.
func (m *Mirror) SyncNames() error { return m.both(Disk.SyncNames) }

// also repeats on the second disk what was done on the main one.
func (m *Mirror) also(do func(Disk) error) error {
	if m.link == nil {
		return m.alone()
	}
	if err := m.link.post(do, nil, m.opt.Wait); err != nil {
		return m.lost(err)
	}
	return nil
}

// both does something that waits for the hardware on both disks at the same time.
func (m *Mirror) both(do func(Disk) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link == nil {
		if err := do(m.main); err != nil {
			return err
		}
		return m.alone()
	}
	done := make(chan error, 1)
	err := m.link.post(func(second Disk) error {
		if err := do(second); err != nil {
			return err
		}
		if x, ok := second.(exclusive); ok && x.Exclusive() {
			return nil
		}
		return m.ours(second)
	}, done, m.opt.Wait)
	if err := do(m.main); err != nil {
		return err
	}
	if err == nil {
		err = m.link.wait(done, m.opt.After(m.opt.Wait))
	}
	if err != nil {
		return m.lost(err)
	}
	return nil
}

// exclusive is a disk that no other process can claim while it is open, whatever happens on
// the network in between.
type exclusive interface{ Exclusive() bool }

// alone returns the result of an operation while the second disk is behind.
func (m *Mirror) alone() error {
	err := m.State().Err
	switch {
	case errors.Is(err, ErrFenced):
		return err
	case m.opt.Required:
		return without(err)
	}
	return nil
}
