package slurm

import "syscall"

// ownFileSystems are file systems that one machine alone has, by the number that statfs
// gives them.
var ownFileSystems = map[int64]string{0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: "tmpfs", 0x794c7630: "overlayfs", 0x2fc12fc1: "zfs"}

// fileSystem names the file system of a path if this machine alone has it; "" if others may.
func fileSystem(path string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(path, &s) != nil {
		return ""
	}
	return ownFileSystems[int64(s.Type)]
}
