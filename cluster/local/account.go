package local

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
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

// account is who a work runs as: never root, and another than the site's own account
// only where the site runs as root.
func (d *Driver) account(name string) (supervisor.Account, error) {
	switch {
	case name == "":
		return supervisor.Account{}, deny(bourse.NotAllowed, "no local account is given for its user; add an [[account]]")
	case d.self.UID != 0 && name != d.self.Name:
		return supervisor.Account{}, deny(bourse.NotAllowed, "the site's process runs as %s and cannot run work as %s; start it as root, or write as = %q in the [[account]]", d.self.Name, name, d.self.Name)
	case d.self.UID != 0:
		return d.self, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return supervisor.Account{}, deny(bourse.NotAllowed, "there is no account %s on this machine (%v); name one that there is in the [[account]]", name, err)
	}
	a, err := numbered(u)
	switch {
	case err != nil:
		return supervisor.Account{}, err
	case a.UID == 0:
		return supervisor.Account{}, deny(bourse.NotAllowed, "%s is an account of root, as which no work runs; name another one in the [[account]]", name)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return supervisor.Account{}, deny(bourse.NotAllowed, "the groups of account %s are not known (%v)", name, err)
	}
	for _, g := range groups {
		id, err := strconv.ParseUint(g, 10, 32)
		if err != nil {
			return supervisor.Account{}, fmt.Errorf("account %s: %w", name, err)
		}
		a.Groups = append(a.Groups, uint32(id))
	}
	slices.Sort(a.Groups)
	a.Switch = true
	return a, nil
}
