package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/web"
)

// Context says where a federation is and who calls it. Files are relative to
// the folder of the context file.
type Context struct {
	Broker      string            `json:"broker"`             // URL of the broker's API
	Replicas    []string          `json:"replicas,omitempty"` // those of the other processes that hold the broker
	Sites       map[string]string `json:"sites,omitempty"`    // URL of each site's API, by name
	CA          string            `json:"ca,omitempty"`       // certificates of the VO's authorities; "": plain http
	Certificate string            `json:"certificate,omitempty"`
	Key         string            `json:"key,omitempty"`
	TokenFile   string            `json:"token_file,omitempty"` // a token of the VO's issuer, read with every call; in place of certificate and key

	file string
}

// Variable is the environment variable that names a context file, and Default
// the file that is looked for where nothing names one.
const Variable = "BOURSE_CONTEXT"

// Default is the context file of this folder.
var Default = filepath.Join(".bourse", "context.json")

// Find reads the context file of that name or, where it is "", the one that
// Variable names or, where that is not set, Default.
func Find(name string) (*Context, error) {
	for _, name := range []string{name, os.Getenv(Variable)} {
		if name != "" {
			return Read(name)
		}
	}
	c, err := Read(Default)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no federation is known here: there is no %s; start one with bourse up, name a context file "+
			"with --context, or set %s", Default, Variable)
	}
	return c, err
}

// Read reads a context file.
func Read(name string) (*Context, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "context.json")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := &Context{file: name}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("%s: not a context file, JSON such as {\"broker\": \"https://10.0.0.5:7070\", \"ca\": \"ca.pem\", ...}, as bourse up writes it: %w", name, err)
	}
	switch {
	case c.Broker == "" && len(c.Sites) == 0:
		return nil, fmt.Errorf(`%s: names neither a broker nor a site; write for instance "broker": "https://10.0.0.5:7070"`, name)
	case c.tokened() && (c.CA == "" || (c.Certificate == "") != (c.Key == "")):
		return nil, fmt.Errorf("%s: a token goes with ca, and with certificate and key or without both", name)
	case !c.tokened() && ((c.CA == "") != (c.Certificate == "") || (c.CA == "") != (c.Key == "")):
		return nil, fmt.Errorf("%s: ca, certificate and key go together; give all three, or none for plain http on this machine", name)
	}
	return c, nil
}

// TokenVariable is the environment variable that holds a token itself; it counts more than
// a file.
const TokenVariable = "BOURSE_TOKEN"

// tokened reports whether a token says who calls.
func (c *Context) tokened() bool {
	return c.TokenFile != "" || os.Getenv(TokenVariable) != "" && c.CA != ""
}

// token is the one to show.
func (c *Context) token() (string, error) {
	if t := os.Getenv(TokenVariable); t != "" {
		return strings.TrimSpace(t), nil
	}
	text, err := os.ReadFile(c.path(c.TokenFile))
	if err != nil {
		return "", fmt.Errorf("%s: token_file: %w; have the tool of your issuer write it", c.file, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// bearer shows a token with every request.
type bearer struct {
	http.RoundTripper
	token func() (string, error)
}

// RoundTrip carries a request with the token.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" { // after a redirect
		return nil, fmt.Errorf("%s would have the token in plain text", r.URL.Host)
	}
	t, err := b.token()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t)
	return b.RoundTripper.RoundTrip(r)
}

// Write writes the context to a file: beside it first, then in its place.
func (c *Context) Write(name string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	beside := name + ".new"
	if err := os.WriteFile(beside, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, name)
}

// beside lists the files of this one's name in the folders beside it.
func (c *Context) beside() (list []string) {
	dir := filepath.Dir(c.file)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name(), filepath.Base(c.file))
		if _, err := os.Lstat(name); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// ToBroker returns the client of the broker's API.
func (c *Context) ToBroker() (*Client, error) {
	if c.Broker == "" {
		if list := c.beside(); len(list) > 0 { // as bourse up --vos makes them
			return nil, fmt.Errorf("%s: names no broker, for it is that of the sites' operators; those of the VOs are %s: name one with --context", c.file, strings.Join(list, ", "))
		}
		return nil, fmt.Errorf(`%s: names no broker; write "broker": "https://HOST:PORT"`, c.file)
	}
	x, err := c.ToHolder(c.Broker)
	if err != nil || len(c.Replicas) == 0 {
		return x, err
	}
	r := &replicas{slow: slowReplica, to: func(address string) (replica, error) {
		one, err := c.ToHolder(address)
		if err != nil {
			return replica{}, err
		}
		base, by := one.Transport()
		return replica{base, by}, nil
	}}
	for _, address := range c.Holders() {
		one, err := r.to(address)
		if err != nil {
			return nil, err
		}
		r.list = append(r.list, one)
	}
	x.http.Transport, x.tries = r, triesOfReplicas
	return x, nil
}

// Holders are the URLs of the processes that hold the broker, as far as the context knows.
func (c *Context) Holders() []string { return append([]string{c.Broker}, c.Replicas...) }

// ToHolder returns the client of the API of one of them, whether it leads or not.
func (c *Context) ToHolder(url string) (*Client, error) {
	return c.to(url, certificate.Broker, "", "the broker")
}

// ToSite returns the client of a site's API.
func (c *Context) ToSite(name string) (*Client, error) {
	address, ok := c.Sites[name]
	if !ok {
		names := make([]string, 0, len(c.Sites))
		for n := range c.Sites {
			names = append(names, n)
		}
		slices.Sort(names)
		known := "there are " + strings.Join(names, ", ")
		if len(names) == 0 {
			known = `there is none; write "sites": {"` + name + `": "https://HOST:PORT"}`
		}
		return nil, fmt.Errorf("%s: knows no address of site %q; %s", c.file, name, known)
	}
	return c.to(address, certificate.Site, name, "site "+name)
}

// Who asks the broker, or a site if the context names no broker, who is calling.
func (c *Context) Who(ctx context.Context) (who web.Who, err error) {
	api, err := c.ToBroker()
	if c.Broker == "" {
		for name := range c.Sites { // any
			api, err = c.ToSite(name)
		}
	}
	if err != nil {
		return who, err
	}
	return api.Who(ctx)
}

func (c *Context) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(c.file), name)
}
