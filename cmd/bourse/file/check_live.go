package file

import (
	"context"
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/failure"
)

// liveChecked is what "check --live --json" prints.
type liveChecked struct {
	*configs.Checked
	Live []process.Finding `json:"live"`
}

// checkLive tries what a site needs of its machine and its cluster. What is missing fails.
func checkLive(ctx context.Context, file string, found *configs.Checked, asJSON bool, out io.Writer) error {
	if found.Kind != kinds.SiteProcess {
		return fmt.Errorf("%s is the file of a %s; --live is for that of a site's process, which has [listen] or [[vo]]", file, found.Kind)
	}
	cfg, err := configs.ReadSiteProcess(file)
	if err != nil {
		return err
	}
	list := process.CheckSite(ctx, cfg)
	if asJSON {
		err = flags.WriteJSON(out, liveChecked{found, list})
	} else {
		_, err = fmt.Fprintf(out, "%s: %v\n", file, found)
	}
	lacks := 0
	for _, f := range list {
		if !asJSON && err == nil {
			_, err = fmt.Fprintf(out, "%-8s %s: %s\n", f.State, f.Check, flags.Visible(f.Words))
		}
		if f.State == process.FoundMissing {
			lacks++
		}
	}
	if err == nil && lacks > 0 {
		return failure.Of(fmt.Errorf("%d of %d checks have found something missing", lacks, len(list)))
	}
	return err
}
