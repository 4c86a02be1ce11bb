package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/mirror"
)

// newJournalKeep builds "bourse journal keep".
func newJournalKeep() *cobra.Command {
	var k journalKeep
	cmd := &cobra.Command{
		Use:   "keep DIR --listen HOST:PORT --certificate FILE",
		Short: "Keep the journals of sites and brokers on this host too",
		Long: `Keeps second copies of journals below DIR for the sites and brokers whose files
say [journal] mirror = "HOST:PORT" with this address, until it is stopped by
SIGTERM or Ctrl-C. Each reaches what it has kept itself, by its certificate, and
nothing else; each has one folder, and one writer at a time.

The certificate is one of role mirror: bourse ca issue --role mirror --name NAME
--host HOST. The key, ca.pem and revoked.txt are looked for beside it.`,
		Example: "  bourse journal keep /srv/mirror --listen 0.0.0.0:7420 \\\n      --certificate mirror-vault.pem",
		Args:    arguments(1, 1, "the folder to keep them in"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.run(cmd.Context(), args[0], newLog(cmd.ErrOrStderr(), zerolog.InfoLevel))
		},
	}
	addFlag(cmd, &k.listen, asEndpoint, "listen", "", "where to listen, HOST:PORT")
	addFlag(cmd, &k.certificate, asFile, "certificate", "", "of role mirror, with its key, ca.pem and revoked.txt beside it")
	cmd.Flags().BoolVar(&k.plain, "plain", false, "no certificates at all; only for processes of this machine")
	_ = cmd.MarkFlagRequired("listen")
	return cmd
}

// journalKeep holds the flags.
type journalKeep struct {
	listen, certificate string
	plain               bool
}

func (k *journalKeep) run(ctx context.Context, dir string, log zerolog.Logger) error {
	store, err := k.store(dir, log)
	if err != nil {
		return err
	}
	whole, err := journal.OpenFolder(dir) // for one keeper at a time
	if err != nil {
		return failed(err)
	}
	defer func() { _ = whole.Close() }()
	l, err := net.Listen("tcp", k.listen)
	if err != nil {
		return failed(err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); store == nil && (!ok || !a.IP.IsLoopback()) {
		return errors.Join(errors.New("--plain: only this machine may be reached, such as --listen 127.0.0.1:7420"), l.Close())
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log.Info().Str("address", l.Addr().String()).Str("folder", dir).Msg("ready")
	return failed(mirror.NewKeeper(dir, store, log).Serve(ctx, l))
}

// store loads the certificate.
func (k *journalKeep) store(dir string, log zerolog.Logger) (*certificate.Store, error) {
	if k.plain == (k.certificate != "") {
		return nil, errors.New("must have --certificate FILE or --plain, one of them")
	}
	if k.plain {
		return nil, nil
	}
	beside := filepath.Dir(k.certificate)
	store, err := certificate.Load(certificate.Files{Authority: filepath.Join(beside, "ca.pem"), Certificate: k.certificate,
		Key: strings.TrimSuffix(k.certificate, ".pem") + ".key", Revoked: filepath.Join(beside, "revoked.txt"), Kept: dir + ".revoked"},
		certificate.Options{Log: func(line string) { log.Warn().Msg(line) }})
	if err != nil {
		return nil, failed(err)
	}
	if id := store.Identity(); id.Role != certificate.Mirror {
		return nil, failed(fmt.Errorf("%s is the certificate of %s; must be one of role mirror: bourse ca issue --role mirror", k.certificate, id))
	}
	return store, nil
}
