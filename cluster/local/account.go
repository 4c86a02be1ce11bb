package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// ownAccount is the account of this process. If it has no name, its number is used.
func ownAccount() (supervisor.Account, error) {
	u, err := user.Current()
	if err != nil {
		id := os.Geteuid()
		return supervisor.Account{Name: strconv.Itoa(id), UID: uint32(id), GID: uint32(os.Getegid()), Home: "/"}, nil
	}
	return numbered(u)
}

// numbered reads the numbers of an account.
func numbered(u *user.User) (supervisor.Account, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return supervisor.Account{}, fmt.Errorf("account %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return supervisor.Account{Name: u.Username, UID: uint32(uid), GID: uint32(gid), Home: u.HomeDir}, err
}

// Opens returns the first of some files and folders of this process that a local account can
// open for reading; "" if it can open none of them. An empty name is passed over. What does not
// exist is too, unless the account is this process's own, which can open all that it makes. An
// error says that there is no such account.
func Opens(as string, files []string) (string, error) {
	a, err := ownAccount()
	if err != nil {
		return "", err
	}
	if as != a.Name {
		u, err := user.Lookup(as)
		if err != nil {
			return "", err
		}
		if a, err = numbered(u); err != nil {
			return "", err
		}
		if a.Groups, err = groupsOf(u); err != nil {
			return "", err
		}
		if a.Switch = int(a.UID) != os.Geteuid(); a.Switch && os.Geteuid() != 0 {
			return "", nil // work cannot run as anybody else
		}
	}
	open := ""
	err = a.As(func() error {
		for _, name := range files {
			if name == "" {
				continue
			}
			f, err := os.Open(name)
			if err == nil {
				open = name
				return f.Close()
			}
			if !a.Switch && errors.Is(err, fs.ErrNotExist) {
				open = name
				return nil
			}
		}
		return nil
	})
	return open, err
}

// groupsOf lists the numbers of an account's groups, sorted.
func groupsOf(u *user.User) (list []uint32, err error) {
	groups, err := u.GroupIds()
	if err != nil {
		return nil, deny(grid.NotAllowed, "the groups of account %s are not known (%v)", u.Username, err)
	}
	for _, g := range groups {
		id, err := strconv.ParseUint(g, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", u.Username, err)
		}
		list = append(list, uint32(id))
	}
	slices.Sort(list)
	return list, nil
}

// account is who a work runs as: never root, and another than the site's own account
// only where the site runs as root.
func (d *Driver) account(name string) (supervisor.Account, error) {
	switch {
	case name == "":
		return supervisor.Account{}, deny(grid.NotAllowed, "no local account is given for its user; add an [[account]]")
	case d.self.UID != 0 && name != d.self.Name:
		return supervisor.Account{}, deny(grid.NotAllowed, "the site's process runs as %s and cannot run work as %s; start it as root, or write as = %q in the [[account]]", d.self.Name, name, d.self.Name)
	case d.self.UID != 0:
		return d.self, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return supervisor.Account{}, deny(grid.NotAllowed, "there is no account %s on this machine (%v); name one that there is in the [[account]]", name, err)
	}
	a, err := numbered(u)
	switch {
	case err != nil:
		return supervisor.Account{}, err
	case a.UID == 0:
		return supervisor.Account{}, deny(grid.NotAllowed, "%s is an account of root, as which no work runs; name another one in the [[account]]", name)
	}
	if a.Groups, err = groupsOf(u); err != nil {
		return supervisor.Account{}, err
	}
	a.Switch = true
	return a, nil
}
