package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// maxFile bounds any file that this package reads, in bytes: some hundred certificates, or
// tens of thousands of lines of a list.
const maxFile = 1 << 20

// The names of files in the folder of an authority.
const (
	authorityFile = "ca.pem"      // certificates of the authority, the one in use first
	keyFile       = "ca.key"      // its key: never leaves the folder
	gossipFile    = "gossip.key"  // keys of the VO's gossip
	revokedFile   = "revoked.txt" // what is no longer trusted
	issuedFile    = "issued.txt"  // what was issued
)

// Files names what a process needs to be a member of a VO.
type Files struct {
	Authority   string // certificates of the authorities trusted, one or more
	Certificate string // its own
	Key         string // its own, which nobody else can read
	Revoked     string // what is not trusted; may be missing; "": none
	Kept        string // a copy of Revoked as last read, in force if that is gone; "": no copy
	Gossip      string // keys of the gossip, for agents
}

// In names the files of a member as bourse ca lays them out in one folder.
func In(dir string, role Role, name string) Files {
	base := filepath.Join(dir, string(role)+"-"+url.PathEscape(name))
	return Files{
		Authority:   filepath.Join(dir, authorityFile),
		Certificate: base + ".pem",
		Key:         base + ".key",
		Revoked:     filepath.Join(dir, revokedFile),
		Gossip:      filepath.Join(dir, gossipFile),
	}
}

// readFile reads a file of at most maxFile bytes.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d bytes; must be at most %d", name, info.Size(), maxFile)
	}
	return os.ReadFile(name)
}

// writeFile writes a file beside its place, syncs it and renames it, so that a reader sees
// either the old one or the new one, whole.
func writeFile(name string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // made with 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// refuseExisting returns an *ExistsError if one of the files exists.
func refuseExisting(names ...string) error {
	for _, name := range names {
		if _, err := os.Lstat(name); err == nil {
			return &ExistsError{File: name}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ExistsError says that a file would have been overwritten.
type ExistsError struct{ File string }

func (e *ExistsError) Error() string {
	return e.File + " exists; nothing is overwritten unless --replace asks for it"
}

func encodeCertificates(list ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range list {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

// readCertificates reads every certificate of a PEM file, at least one.
func readCertificates(name string) ([]*x509.Certificate, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	list, err := parseCertificates(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("a %s is among the certificates; must be a PEM file of certificates only", block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(list)+1, err)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, errors.New("no certificate in it; must be a PEM file made by bourse ca")
	}
	return list, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// readSecret is readFile, but refuses a file that others on the machine can read.
func readSecret(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (%#o); chmod 600 %s", name, mode, name)
	}
	return readFile(name)
}

// readKey reads a private key.
func readKey(name string) (crypto.Signer, error) {
	data, err := readSecret(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%s: no PRIVATE KEY in it; must be a PEM file made by bourse ca", name)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s: a key that cannot sign", name)
	}
	return signer, nil
}
