package slurm

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// account is a local account as which a command runs.
type account struct {
	name, home string
	uid, gid   uint32
	groups     []uint32
	other      bool // not the account of this process
}

// Check says why this process cannot run work as an account; nil if it can.
func Check(name string) grid.Reason {
	_, why := lookUp(name)
	return why
}

// Account says why no work can run as an account where the driver's commands run.
func (d *Driver) Account(name string) grid.Reason {
	_, why := d.work.account(name)
	return why
}

// lookUp finds an account as which work may run, or says why it may not.
func lookUp(name string) (*account, grid.Reason) {
	refuse := func(format string, args ...any) (*account, grid.Reason) {
		return nil, grid.Because(grid.NotAllowed, format, args...)
	}
	u, err := user.Lookup(name)
	if err != nil {
		return refuse("there is no account %q on this machine; make it, here and on the nodes, or name another one in [[account]]", name)
	}
	a, err := accountOf(u)
	switch {
	case err != nil:
		return refuse("account %s: %v", name, err)
	case a.uid == 0:
		return refuse("account %q is root, as which no work runs; name another one in [[account]]", name)
	case a.other && os.Geteuid() != 0:
		return refuse("work of account %q can be submitted only by a site's process that runs as root or as %s; this one runs as uid %d", name, name, os.Geteuid())
	}
	return a, grid.Reason{}
}

// accountNamed finds an account by its name.
func accountNamed(name string) (*account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	return accountOf(u)
}

// ownerOf finds an account by its number.
func ownerOf(uid uint32) (*account, error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return nil, err
	}
	return accountOf(u)
}

func accountOf(u *user.User) (*account, error) {
	a := &account{name: u.Username, home: u.HomeDir}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	var all []uint32
	for _, s := range append([]string{u.Uid, u.Gid}, ids...) {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("id %q is not a number", s)
		}
		all = append(all, uint32(n))
	}
	a.uid, a.gid, a.groups = all[0], all[1], all[2:]
	a.other = int(a.uid) != os.Geteuid()
	return a, nil
}
