package use

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// getting is one call of "bourse get".
type getting struct {
	calling
	legChoice
	to    string
	list  bool
	force bool
}

// Bounds of one call, beside those of grid.
const (
	maxGet      = 4 << 30 // bytes
	changes     = 3       // times that a file may change while it is read
	busyPause   = time.Second
	busyPatient = 120 // times that a site may be too busy for a piece
)

// newGet builds "bourse get".
func newGet() *cobra.Command {
	var c getting
	cmd := &cobra.Command{
		Use:   "get JOB [PATH...]",
		Short: "Fetch files of a job's work",
		Long: `Get fetches files of the folder in which a job's work began, from its cluster through
its site and the broker. Without a PATH and --to it lists them, and so does --list, which
lists only what is below each PATH. A PATH is a file or a folder, relative to that folder;
"." is all of it, and so is no PATH beside --to.

Each file is written below --to under its own path: first beside its place, under a
name that ends in .part, and renamed when its SHA-256 is what the cluster has computed.
If a call breaks off, the same call goes on where it stopped. A file that is there
already and is the same is left alone; one that differs is replaced only with --force.

Bounds: 1,000 files of a PATH, 256 MiB each, 4 GiB in all, 16 folders deep; a site hands
out 2 MiB a second. Links, devices and pipes are not fetched, and no path leads out of
the folder. A file that changes while it is read is refused. bourse jobs ID says how
long the files are kept.

Exit status 1: the job has no window yet or no command, its site is unreachable or keeps
the files no more, or a file cannot be fetched; the others are fetched nevertheless.`,
		Example: "  bourse get wave\n  bourse get wave out/field.nc --to results\n  bourse get wave . --leg 1\n  bourse get 'arr[13]' --to results",
		Args:    flags.Arguments(1, 1000, "a job, and files of its work"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd); err != nil {
				return err
			}
			paths := args[1:]
			if len(paths) == 0 && cmd.Flags().Changed("to") && !c.list {
				paths = []string{"."}
			}
			return c.run(cmd.Context(), args[0], paths, cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	c.legChoice.addFlags(cmd)
	flags.AddFlag(cmd, &c.to, flags.AsFolder, "to", ".", "folder to write to; it is made if it is missing")
	cmd.Flags().BoolVar(&c.list, "list", false, "list the files and fetch none")
	cmd.Flags().BoolVar(&c.force, "force", false, "replace files that are there and differ")
	return cmd
}

func (c *getting) run(ctx context.Context, id string, paths []string, out io.Writer) error {
	for i, p := range paths {
		p = path.Clean(filepath.ToSlash(p))
		if p == "." {
			p = ""
		}
		if err := (grid.Source{What: grid.ReadList, Path: p}).Check(); err != nil {
			return err
		}
		paths[i] = p
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	j, err := server.Job(ctx, id)
	if err != nil {
		return flags.Refused(err)
	}
	if c.list || len(paths) == 0 {
		return c.show(ctx, server, &j, paths, out)
	}
	legs, err := c.legs(&j)
	if err != nil {
		return err
	}
	if len(legs) > 1 {
		return flags.Misuse(fmt.Errorf("%s has %s, each with a folder of its own; choose one by --leg 0 to --leg %d", id, grid.Count(len(j.Legs), "leg"), len(j.Legs)-1))
	}
	c.leg = legs[0]
	return c.fetch(ctx, server, j.ID, paths, out)
}

// show lists the files of the chosen leg, or of all.
func (c *getting) show(ctx context.Context, server *client.Client, j *api.Job, paths []string, out io.Writer) error {
	if len(paths) == 0 {
		paths = []string{""}
	}
	legs, err := c.legs(j)
	if err != nil {
		return err
	}
	var failures []error
	for _, k := range legs {
		for _, p := range paths {
			l, err := patiently(ctx, func() (api.WorkFiles, error) { return server.Files(ctx, j.ID, k, p) })
			switch {
			case err != nil:
				failures = append(failures, flags.Refused(err)) // other sites may be reachable
			case c.JSON:
				err = flags.WriteLine(out, l)
			default:
				err = showFiles(out, &l, p, len(legs) > 1)
			}
			if err != nil && len(failures) == 0 {
				return err
			}
		}
	}
	return errors.Join(failures...)
}

// showFiles prints one list.
func showFiles(out io.Writer, l *api.WorkFiles, below string, several bool) error {
	where := "its folder"
	if below != "" {
		where = below
	}
	if several {
		if _, err := fmt.Fprintf(out, "leg %d, on %s:\n", l.Leg, l.Site); err != nil {
			return err
		}
	}
	if len(l.Files) == 0 {
		_, err := fmt.Fprintf(out, "no files in %s\n", where)
		return err
	}
	w, now := report.NewTable("<file", "bytes", "<changed"), time.Now()
	for _, f := range l.Files {
		w.AppendRow([]any{f.Path, f.Size, display.Moment(f.Changed, now)})
	}
	if _, err := fmt.Fprintln(out, w.Render()); err != nil {
		return err
	}
	if more := l.Found - int64(len(l.Files)); more > 0 {
		_, err := fmt.Fprintf(out, "and %d more files in %s; name a folder in it to see those\n", more, where)
		return err
	}
	return nil
}

// fetch fetches files and what is in folders.
func (c *getting) fetch(ctx context.Context, server *client.Client, id string, paths []string, out io.Writer) error {
	var files []api.WorkFile
	total := int64(0)
	for _, p := range paths {
		l, err := patiently(ctx, func() (api.WorkFiles, error) { return server.Files(ctx, id, c.leg, p) })
		switch {
		case err != nil:
			return flags.Refused(err)
		case l.Found > int64(len(l.Files)):
			return failure.Of(fmt.Errorf("%s has %s, of which at most %d are fetched at once; name folders or files in it", folderWords(p), grid.Count(int(l.Found), "file"), grid.MaxFiles))
		case len(l.Files) == 0:
			return failure.Of(fmt.Errorf("there are no files in %s", folderWords(p)))
		}
		for _, f := range l.Files {
			if !slices.ContainsFunc(files, func(o api.WorkFile) bool { return o.Path == f.Path }) {
				files = append(files, f)
				total += f.Size
			}
		}
	}
	if total > maxGet {
		return failure.Of(fmt.Errorf("these are %s of %d bytes; at most %d are fetched at once. Name fewer", grid.Count(len(files), "file"), total, int64(maxGet)))
	}
	if err := os.MkdirAll(c.to, 0o777); err != nil {
		return failure.Of(err)
	}
	root, err := os.OpenRoot(c.to)
	if err != nil {
		return failure.Of(err)
	}
	defer func() { _ = root.Close() }()
	var failures []error
	for _, f := range files {
		err := c.one(ctx, server, root, id, f.Path, out)
		if ctx.Err() != nil {
			return fmt.Errorf("%w; the same call goes on where this one stopped", context.Cause(ctx))
		}
		if err != nil {
			failures = append(failures, flags.Refused(err))
		}
	}
	return errors.Join(failures...)
}

// folderWords names a folder.
func folderWords(p string) string {
	if p == "" {
		return "its folder"
	}
	return p
}

// got is what came of one file.
type got struct {
	Path   string `json:"path"`
	To     string `json:"to"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	From   int64  `json:"from,omitempty"` // where it went on
	Same   bool   `json:"same,omitempty"` // it was there already
}

// one fetches one file. The path is the site's word: root keeps it from leading elsewhere.
func (c *getting) one(ctx context.Context, server *client.Client, root *os.Root, id, name string, out io.Writer) error {
	if (grid.Source{What: grid.ReadFile, Path: name}).Check() != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("the site names a file %q, which cannot be written here", name)
	}
	for range changes {
		d, err := patiently(ctx, func() (api.WorkDigest, error) { return server.Digest(ctx, id, c.leg, name) })
		if err != nil {
			return err
		}
		if len(d.SHA256) != 2*sha256.Size {
			return fmt.Errorf("%s: %s answered without a digest", name, d.Site)
		}
		g := got{Path: name, To: filepath.Join(c.to, filepath.FromSlash(name)), Size: d.Size, SHA256: d.SHA256}
		if g.Same, err = c.there(root, name, &d); err != nil {
			return err
		}
		whole := g.Same
		if !whole {
			if whole, err = c.pieces(ctx, server, root, id, &d, &g.From); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if whole {
			return c.tell(&g, out)
		}
	}
	return fmt.Errorf("%s changed %d times while it was read; fetch it when it is complete, or print it by bourse logs", name, changes)
}

// tell prints what came of a file.
func (c *getting) tell(g *got, out io.Writer) error {
	if c.JSON {
		return flags.WriteLine(out, g)
	}
	how := ""
	switch {
	case g.Same:
		how = ", which was there already"
	case g.From > 0:
		how = fmt.Sprintf(", from byte %d on", g.From)
	}
	_, err := fmt.Fprintf(out, "%s  %d bytes%s\n", g.To, g.Size, how)
	return err
}

// there reports whether the file is there already. One that differs is in the way.
func (c *getting) there(root *os.Root, name string, d *api.WorkDigest) (bool, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is there, and is no regular file; name another folder by --to", filepath.Join(c.to, name))
	}
	if info.Size() == d.Size {
		f, err := root.Open(name)
		if err != nil {
			return false, err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		_ = f.Close()
		if err != nil || sum(h) == d.SHA256 {
			return err == nil, err
		}
	}
	if !c.force {
		return false, fmt.Errorf("%s is there and differs; --force replaces it, --to writes elsewhere", filepath.Join(c.to, name))
	}
	return false, nil
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// pieces fetches a file piece by piece beside its place, and renames it once it is whole.
// What an earlier call has left of a file with the same digest is not fetched again. It
// reports false if the file has changed.
func (c *getting) pieces(ctx context.Context, server *client.Client, root *os.Root, id string, d *api.WorkDigest, began *int64) (whole bool, err error) {
	beside := path.Join(path.Dir(d.Path), "."+path.Base(d.Path)+"."+d.SHA256[:16]+".part")
	if err := root.MkdirAll(path.Dir(d.Path), 0o777); err != nil {
		return false, err
	}
	f, err := root.OpenFile(beside, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return false, err
	}
	closed := false
	defer func() {
		if !closed {
			_ = f.Close()
		}
	}()
	h := sha256.New()
	from, err := io.Copy(h, f)
	if err != nil {
		return false, err
	}
	*began = from
	for from < d.Size {
		o, err := patiently(ctx, func() (api.JobOutput, error) { return server.File(ctx, id, c.leg, d.Path, from) })
		switch {
		case err != nil:
			return false, err
		case o.Size != d.Size || o.From != from || len(o.Data) == 0:
			return false, root.Remove(beside)
		}
		if _, err := f.Write(o.Data); err != nil {
			return false, err
		}
		_, _ = h.Write(o.Data)
		from += int64(len(o.Data))
	}
	if from != d.Size || sum(h) != d.SHA256 {
		return false, root.Remove(beside)
	}
	closed = true
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return false, err
	}
	return true, root.Rename(beside, d.Path)
}

// patiently calls again while the site has no room for one more piece.
func patiently[T any](ctx context.Context, call func() (T, error)) (v T, err error) {
	for range busyPatient {
		v, err = call()
		var p *client.Problem
		if !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
			return v, err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return v, context.Cause(ctx)
		}
	}
	return v, err
}
