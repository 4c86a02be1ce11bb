package slurm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// whereabouts is the text of the file "where" of a work: which of its files are elsewhere.
func whereabouts(m agents.Command, here string) string {
	var b strings.Builder
	for _, x := range []struct{ key, path string }{{"file", outputFile(m, here)}, {"error", errorFile(m, here)}, {"dir", m.Work.Work.Dir}} {
		if x.path != "" {
			fmt.Fprintf(&b, "%s=%s\n", x.key, x.path)
		}
	}
	return b.String()
}

// read reads what work has printed, or the files of its folder. All of it is read by
// processes of its account: what the folder says and leads to gives nobody a file that the
// work could not read itself.
func (d *Driver) read(ctx context.Context, m agents.OutputRequest) agents.Output {
	out := agents.Output{Ref: m.Ref, Name: m.Name, What: m.Source.What}
	fail := func(code grid.Code, err error) agents.Output {
		out.Failure = grid.Because(code, "%v", err)
		return out
	}
	if err := m.Source.Check(); err != nil {
		return fail(grid.Invalid, err)
	}
	if !plainName(m.Name) {
		return fail(grid.Invalid, fmt.Errorf("%q cannot name a reservation", m.Name))
	}
	a, dir, where, err := d.work.find(ctx, m.Name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fail(grid.Unknown, fmt.Errorf("nothing of it is kept; it has not begun, or ended more than %s ago", grid.Duration(d.cfg.Keep.Milliseconds()).Words()))
	case err != nil:
		return fail(grid.NoCluster, err)
	}
	if m.Source.What == grid.ReadOutput || m.Source.What == grid.ReadErrors {
		err = d.printed(ctx, a, dir, where, m, &out)
	} else {
		err = d.files(ctx, a, cmp.Or(where["dir"], dir), m, &out)
	}
	if err != nil {
		return fail(grid.Unknown, err)
	}
	return out
}

// reader prints the size of a file, the offset from which it shows it, and the bytes, up to
// a bound. It runs as the account whose work has written the file.
const reader = `[ -f "$1" ] || set -- "$4" "$2" "$3" # it could not be made, which is said there
[ -f "$1" ] || { echo "there is no file $1 (yet)" >&2; exit 1; }
size=$(stat -Lc %s -- "$1") || exit
from=$2
[ "$from" -ge 0 ] || from=$((size > $3 ? size - $3 : 0))
echo "$size $from"
tail -c "+$((from + 1))" -- "$1" | head -c "$3"`

// printed reads what work has printed.
func (d *Driver) printed(ctx context.Context, a *account, dir string, where map[string]string, m agents.OutputRequest, out *agents.Output) error {
	file, key := filepath.Join(dir, "output"), "file"
	if m.Source.What == grid.ReadErrors {
		if key = "error"; where[key] == "" {
			return errors.New("its standard error is part of its output: its job names no file for it, by error = \"...\"")
		}
	}
	if where[key] != "" {
		file = where[key]
		if rest, inside := strings.CutPrefix(file, d.work.of(m.Name)+"/"); inside {
			file = filepath.Join(dir, rest) // it was put aside with its folder
		}
	}
	instead := filepath.Join(dir, "output")
	if key == "error" {
		instead = file
	}
	text, err := d.c.run(ctx, a, "", "/bin/sh", "-c", reader, "sh", file, strconv.FormatInt(max(m.From, -1), 10), strconv.Itoa(grid.MaxTail), instead)
	if err != nil {
		return err
	}
	return readPiece(text, out)
}

// readPiece reads what begins with a line of its size and the offset of the rest.
func readPiece(text []byte, out *agents.Output) error {
	first, data, _ := bytes.Cut(text, []byte("\n"))
	if _, err := fmt.Sscanf(string(first), "%d %d", &out.Size, &out.From); err != nil {
		return fmt.Errorf("its size cannot be read: %w", err)
	}
	out.Data = data[:min(len(data), grid.MaxTail)]
	return nil
}

// filer reads in a folder, by its arguments: the folder, what, the path, the offset, the most
// bytes or entries, the depth, the largest size. A path over a link is not the path of what it
// leads to, and is refused.
const filer = `here=$(realpath -e -- "$1") && cd -- "$here" || exit
if [ -n "$3" ] && [ "$(realpath -e -- "./$3" 2>/dev/null)" != "${here%/}/$3" ]; then
  echo "there is no $3 in its folder (any more), or a link leads there, and links are not followed" >&2; exit 1
fi
if [ "$2" = list ]; then
  find "./$3" -maxdepth "$6" -printf '%y %s %T@ %p\0' 2>/dev/null | head -zn "$5"
  exit
fi
[ -f "./$3" ] || { echo "$3 is no regular file; only those can be fetched" >&2; exit 1; }
before=$(stat -c '%s %y %i' -- "./$3") || exit
size=${before%% *}
[ "$size" -le "$7" ] || { echo "$3 has $size bytes; files of at most $7 can be fetched. Split it, or copy it from the cluster by other means" >&2; exit 1; }
if [ "$2" = digest ]; then
  sum=$(sha256sum <"./$3") || exit
  [ "$(stat -c '%s %y %i' -- "./$3")" = "$before" ] || { echo "$3 changes while it is read; fetch it when it is complete, or print it by bourse logs" >&2; exit 1; }
  echo "$size ${sum%% *}"
  exit
fi
echo "$size $4"
tail -c "+$(($4 + 1))" -- "./$3" | head -c "$5"`

// files reads the files of a folder.
func (d *Driver) files(ctx context.Context, a *account, folder string, m agents.OutputRequest, out *agents.Output) error {
	s := m.Source
	most, depth := grid.MaxTail, 0
	if s.What == grid.ReadList {
		most, depth = grid.MaxFilesSeen+2, grid.MaxFileDepth+1 // beside the folder itself one too many
		if s.Path != "" {
			depth -= strings.Count(s.Path, "/") + 1
		}
	}
	text, err := d.c.run(ctx, a, "", "/bin/sh", "-c", filer, "sh", folder, s.What.String(), s.Path, strconv.FormatInt(max(m.From, 0), 10),
		strconv.Itoa(most), strconv.Itoa(depth), strconv.Itoa(grid.MaxFileSize))
	if err != nil {
		return err
	}
	switch s.What {
	case grid.ReadList:
		return readList(text, out)
	case grid.ReadDigest:
		size, sum, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		var errSum error
		out.Size, err = strconv.ParseInt(size, 10, 64)
		out.Data, errSum = hex.DecodeString(sum)
		return errors.Join(err, errSum)
	}
	return readPiece(text, out)
}

// readList reads what find prints: kind, size, time and path of each entry.
func readList(text []byte, out *agents.Output) error {
	seen := 0
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		f := strings.SplitN(string(entry), " ", 4)
		if len(f) != 4 {
			continue
		}
		if seen++; seen > grid.MaxFilesSeen+1 {
			return fmt.Errorf("its folder has more than %d entries; list a folder in it, or pack what it leaves into one file", grid.MaxFilesSeen)
		}
		size, errSize := strconv.ParseInt(f[1], 10, 64)
		at, errAt := strconv.ParseFloat(f[2], 64)
		name := path.Clean(f[3])
		if f[0] != "f" || errSize != nil || size < 0 || errAt != nil || (grid.Source{What: grid.ReadFile, Path: name}).Check() != nil {
			continue
		}
		out.Size++
		out.Files = append(out.Files, grid.WorkFile{Path: name, Size: size, At: grid.Time(at * 1000)})
	}
	slices.SortFunc(out.Files, func(a, b grid.WorkFile) int { return strings.Compare(a.Path, b.Path) })
	out.Files = out.Files[:min(len(out.Files), grid.MaxFiles)]
	return nil
}
