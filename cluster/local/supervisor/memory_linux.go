package supervisor

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// dropText gives back, once, the pages of the program's file that its start has touched, most
// of which are never used again. What is needed comes back from the page cache. Nothing can be
// lost: only mappings are dropped that cannot be written and hold no page that ever was. It
// reads with little memory of its own, which it could not give back.
var dropText = sync.OnceFunc(func() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	from, to := uint64(0), uint64(0) // of a mapping that may be dropped
	for r := bufio.NewReaderSize(f, 4096); ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		switch {
		case bytes.HasPrefix(line, []byte("Anonymous:")):
			if from < to && bytes.Contains(line, []byte(" 0 kB")) {
				_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), adviceDrop)
			}
		case line[0] < 'A' || line[0] > 'Z': // the first line of a mapping: all others begin with a capital
			from, to = 0, 0
			fields := strings.Fields(string(line))
			if len(fields) >= 6 && len(fields[1]) == 4 && fields[1][1] == '-' && fields[5][0] == '/' {
				first, last, _ := strings.Cut(fields[0], "-")
				from, _ = strconv.ParseUint(first, 16, 64)
				to, _ = strconv.ParseUint(last, 16, 64)
			}
		}
	}
})
