//go:build linux

package supervisor

import (
	"strings"
	"testing"
)

func TestCgroup_IsFoundWhereverItIsMounted(t *testing.T) {
	t.Parallel()
	const mount = "24 1 0:20 / /proc rw - proc proc rw\n30 1 0:26 ROOT /POINT rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	for _, x := range []struct{ root, point, own, want string }{
		{"/", "/sys/fs/cgroup", "0::/system.slice/site.service\n", "/sys/fs/cgroup/system.slice/site.service"},
		{"/", "/sys/fs/cgroup/unified", "9:name=systemd:/\n0::/\n", "/sys/fs/cgroup/unified"},
		{"/docker/1", "/sys/fs/cgroup", "0::/docker/1/a\n", "/sys/fs/cgroup/a"},
		{"/docker/1", "/sys/fs/cgroup", "0::/docker/12\n", ""}, // outside
		{"/", "/sys/fs/cgroup", "0::/../other\n", ""},
	} {
		got, err := groupFolder(strings.NewReplacer("ROOT", x.root, "/POINT", x.point).Replace(mount), x.own)
		if got != x.want || (err == nil) == (x.want == "") {
			t.Errorf("%+v: %q, %v", x, got, err)
		}
	}
	if got, err := groupFolder("24 1 0:20 / /proc rw - proc proc rw\n", "4:memory:/\n"); err == nil {
		t.Errorf("without one: %q", got)
	}
}
