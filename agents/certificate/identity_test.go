package certificate

import (
	"crypto/x509"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every name that a configuration file may give an agent has one URI, and the
// URI gives it back.
func TestIdentity_OfAnyNameComesBackFromItsURI(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		i := Identity{
			VO:   rapid.SampledFrom([]string{"atlas", "physics.example", "V-1", "7"}).Draw(t, "vo"),
			Role: rapid.SampledFrom(Roles).Draw(t, "role"),
			Name: rapid.String().Filter(func(s string) bool { return validName(s) == nil }).Draw(t, "name"),
		}
		back, err := ParseIdentity(i.String())
		if err != nil || back != i {
			t.Fatalf("%q: %+v, %v", i, back, err)
		}
	})
}

func TestIdentity_IsTheAddressOfTheAgent(t *testing.T) {
	t.Parallel()
	i, err := ParseIdentity("bourse://atlas/site/north%2Feast%20wing")
	if err != nil || i.Agent() != "site:north/east wing" || i.VO != "atlas" {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestIdentity_HasOneSpelling(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "bourse:", "bourse://", "bourse://atlas", "bourse://atlas/", "bourse://atlas/site", "bourse://atlas/site/",
		"bourse://atlas/site/a/b", "bourse://atlas//site/a", "bourse://atlas/site/%61", "bourse://atlas/site/a?x", "bourse://atlas/site/a#x",
		"bourse://u@atlas/site/a", "bourse://atlas:80/site/a", "bourse://atlas/root/a", "bourse://atlas/Site/a", "BOURSE://atlas/site/a",
		"bourse:///site/a", "bourse:atlas/site/a", "bourse://10.0.0.1/site/a", "bourse://a..b/site/a", "bourse://-a/site/a",
		"bourse://atlas/site/%00", "bourse://atlas/site/%20a", "bourse://atlas/site/%zz", "bourse://atlas/site/" + strings.Repeat("a", 101),
		"https://atlas/site/a", "bourse://atlas/cluster/a", "bourse://%61tlas/site/a",
	} {
		if i, err := ParseIdentity(s); err == nil {
			t.Errorf("%q is taken for %+v", s, i)
		}
	}
}

func TestIdentity_IsTheOneBourseURIOfACertificate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		uris []string
		want string
	}{
		{nil, ""},
		{[]string{"https://example.org/"}, ""},
		{[]string{"bourse://atlas/site/a"}, "bourse://atlas/site/a"},
		{[]string{"spiffe://x/y", "bourse://atlas/site/a"}, "bourse://atlas/site/a"},
		{[]string{"bourse://atlas/site/a", "bourse://atlas/site/b"}, ""},
		{[]string{"bourse://atlas/site/a", "bourse://atlas/site/a"}, ""},
		{[]string{"bourse://atlas/site/a", "bourse://atlas/nobody/b"}, ""},
	} {
		cert := &x509.Certificate{}
		for _, s := range c.uris {
			u, err := url.Parse(s)
			if err != nil {
				t.Fatal(err)
			}
			cert.URIs = append(cert.URIs, u)
		}
		i, err := Of(cert)
		if (err == nil) != (c.want != "") || err == nil && i.String() != c.want {
			t.Errorf("%q: %v, %v", c.uris, i, err)
		}
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add("bourse://atlas/site/north")
	f.Add("bourse://atlas/user/%C3%A4%2F%20b")
	f.Add("bourse://a:80/site/x")
	f.Fuzz(func(t *testing.T, s string) {
		i, err := ParseIdentity(s)
		if err != nil {
			return
		}
		if i.Valid() != nil || i.String() != s {
			t.Errorf("%q is taken for %+v", s, i)
		}
	})
}

func FuzzParseRevocations(f *testing.F) {
	f.Add([]byte("00ff # site/a\nsite/north\n\n#\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseRevocations(b); err == nil && len(r.serials)+len(r.members) > strings.Count(string(b), "\n")+1 {
			t.Errorf("%q gives %v", b, r)
		}
	})
}

func FuzzParseGossipKeys(f *testing.F) {
	f.Add([]byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		keys, err := parseGossipKeys(b)
		for _, k := range keys {
			if len(k) != gossipKeySize {
				t.Errorf("a key of %d bytes", len(k))
			}
		}
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
	})
}

func FuzzParseCertificates(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := parseCertificates(b); err == nil && len(list) == 0 {
			t.Error("no certificate and no error")
		}
	})
}
