package version

import (
	"runtime/debug"
	"testing"
)

// A tag is a version however the binary came by it; a commit without one is none.
func TestVersion_IsThatOfTheModuleWhereTheLinkerSaysNone(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		about, linker, module string
		settings              []debug.BuildSetting
		want                  Version
	}{
		{"go install at a version", "unreleased", "v1.2.3", nil, Version{Version: "v1.2.3"}},
		{"go install at a candidate", "unreleased", "v1.3.0-rc.1", nil, Version{Version: "v1.3.0-rc.1"}},
		{"go install at a commit", "unreleased", "v0.0.0-20261122185516-0123456789ab", nil, Version{Version: "unreleased", Commit: hash[:12]}},
		{"a clone at a tag", "unreleased", "v1.2.3", vcs("false"), Version{Version: "v1.2.3", Commit: hash}},
		{"a clone at a tag, changed", "unreleased", "v1.2.3+dirty", vcs("true"), Version{Version: "v1.2.3", Commit: hash, Modified: true}},
		{"a clone behind a tag", "unreleased", "v1.2.4-0.20261122185516-0123456789ab", vcs("false"), Version{Version: "unreleased", Commit: hash}},
		{"a clone behind a tag, changed", "unreleased", "v1.2.4-0.20261122185516-0123456789ab+dirty", vcs("true"), Version{Version: "unreleased", Commit: hash, Modified: true}},
		{"files without a repository", "unreleased", "(devel)", nil, Version{Version: "unreleased"}},
		{"a release", "v1.2.3", "(devel)", nil, Version{Version: "v1.2.3"}},
	} {
		v := Version{Version: c.linker}
		if v.built(&debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}); v != c.want {
			t.Errorf("%s: %+v, want %+v", c.about, v, c.want)
		}
	}
}
