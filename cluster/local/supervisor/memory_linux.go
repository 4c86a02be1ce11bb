package supervisor

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropText gives back the pages of the program's file that its start has touched, most of
// which are never used again. What is needed comes back from the page cache. Nothing can be
// lost: only mappings are dropped that cannot be written and hold no page that ever was.
func dropText() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	from, to := uint64(0), uint64(0) // of a mapping that may be dropped
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) >= 5 && len(fields[1]) == 4: // the first line of a mapping
			from, to = 0, 0
			if fields[1][1] == '-' && len(fields) >= 6 && fields[5][0] == '/' {
				first, last, _ := strings.Cut(fields[0], "-")
				from, _ = strconv.ParseUint(first, 16, 64)
				to, _ = strconv.ParseUint(last, 16, 64)
			}
		case len(fields) >= 2 && fields[0] == "Anonymous:" && fields[1] == "0" && from < to:
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), adviceDrop)
		}
	}
}
