//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import "os"

// lockFile locks nothing: this system has no lock that ends with its process.
func lockFile(*os.File) error { return nil }

// unlockFile has nothing to give up.
func unlockFile(*os.File) error { return nil }

// syncFolder does nothing: this system cannot sync a folder.
func syncFolder(string, func(*os.File) error) error { return nil }
