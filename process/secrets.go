package process

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bourse-grid/bourse/cluster/local"
	"github.com/bourse-grid/bourse/configs"
)

// Work must not run as an account that is as good as the site: one that can read the site's
// keys, with which it could speak as the site, or reach into its journals. An operator who
// trusts all users of the site may allow it, with same_account.

// keptApart makes the check of accounts refuse those that can open what is the site's own.
func keptApart(cfg *configs.SiteProcess, check func(as string) (string, error)) func(as string) (string, error) {
	own := []string{cfg.TLS.Key, cfg.Gossip.Key, cfg.ProofKey, cfg.Journal.Dir}
	for i := range cfg.VOs {
		own = append(own, cfg.VOs[i].TLS.Key, cfg.VOs[i].Gossip.Key)
	}
	return func(as string) (remark string, err error) {
		if remark, err = check(as); err != nil {
			return "", err
		}
		open, err := local.Opens(as, own)
		switch {
		case err != nil || open == "":
			return remark, nil // an account that is not there yet runs nothing
		case !cfg.Cluster.SameAccount:
			return "", fmt.Errorf("work of account %s could open %s, which is the site's own: any user could act as the site and write into its journals. "+
				"Start the site as root and name another account in the [[account]]; or, if every user may do that, write same_account = true in [cluster]", as, open)
		}
		warning := fmt.Sprintf("same_account = true: work runs as %s, which can open %s. Any user can act as this site and write into its journals", as, open)
		if remark != "" {
			warning += "; " + remark
		}
		return warning, nil
	}
}

// private refuses a journal into which others could look or write, as a key is refused.
func private(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("the journal %s is open to others (%#o); chmod 700 %s", folder, mode, folder)
	}
	files, err := os.ReadDir(folder)
	for _, f := range files {
		info, e := f.Info()
		if e != nil {
			continue // it has just been replaced
		}
		if mode := info.Mode().Perm(); info.Mode().IsRegular() && mode&0o022 != 0 {
			name := filepath.Join(folder, f.Name())
			return cmp.Or(err, fmt.Errorf("%s can be written by others (%#o); chmod 600 %s", name, mode, name))
		}
	}
	return err
}
