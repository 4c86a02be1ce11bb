package keys

import "testing"

func TestSizes(t *testing.T) {
	t.Parallel()
	for v, want := range map[any]int64{
		int64(5): 5, "7": 7, "64GiB": 64 << 30, "1.5 TB": 1_500_000_000_000, "1kB": 1000, "8B": 8, "1024PiB": 1 << 60,
		int64(-1): -1, "": -1, "GiB": -1, "-1MB": -1, "nan": -1, "infB": -1, "2000PiB": -1, "0x10": -1, 1.5: -1,
	} {
		n, err := parseSize(v)
		if err != nil {
			n = -1
		}
		if n != want {
			t.Errorf("%v: %d %v, want %d", v, n, err, want)
		}
	}
}
