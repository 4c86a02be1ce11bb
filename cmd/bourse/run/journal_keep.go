package run

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
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/failure"
)

// newJournalKeep builds "bourse journal keep".
func newJournalKeep() *cobra.Command {
	var k journalKeep
	cmd := &cobra.Command{
		Use:   "keep DIR --listen HOST:PORT --certificate FILE",
		Short: "Keep second copies of journals on this host",
		Long: `Keeps second copies of journals below DIR, until SIGTERM or Ctrl-C, for the sites
and brokers whose files have [journal] mirror = "HOST:PORT" with this address. Each
has its own folder, one writer at a time, and by its certificate can reach nothing
else.

The certificate must have the role mirror: bourse ca issue --role mirror --name NAME
--host HOST. Its key, ca.pem and revoked.txt must lie beside it.`,
		Example: "  bourse journal keep /srv/mirror --listen 0.0.0.0:7420 \\\n      --certificate mirror-vault.pem",
		Args:    flags.Arguments(1, 1, "the folder to keep them in"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.run(cmd.Context(), args[0], process.NewLog(cmd.ErrOrStderr(), zerolog.InfoLevel))
		},
	}
	flags.AddFlag(cmd, &k.listen, flags.AsEndpoint, "listen", "", "address to listen on, HOST:PORT")
	flags.AddFlag(cmd, &k.certificate, flags.AsFile, "certificate", "", "certificate of role mirror, with its key, ca.pem and revoked.txt beside it")
	cmd.Flags().BoolVar(&k.plain, "plain", false, "use no certificates; only for processes on this machine")
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
		return failure.Of(err)
	}
	defer func() { _ = whole.Close() }()
	l, err := net.Listen("tcp", k.listen)
	if err != nil {
		return failure.Of(err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); store == nil && (!ok || !a.IP.IsLoopback()) {
		return errors.Join(errors.New("--plain: --listen must be an address of this machine only, such as 127.0.0.1:7420"), l.Close())
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log.Info().Str("address", l.Addr().String()).Str("folder", dir).Msg("ready")
	return failure.Of(mirror.NewKeeper(dir, store, log).Serve(ctx, l))
}

// store loads the certificate.
func (k *journalKeep) store(dir string, log zerolog.Logger) (*certificate.Store, error) {
	if k.plain == (k.certificate != "") {
		return nil, errors.New("give either --certificate FILE or --plain")
	}
	if k.plain {
		return nil, nil
	}
	beside := filepath.Dir(k.certificate)
	store, err := certificate.Load(certificate.Files{Authority: filepath.Join(beside, "ca.pem"), Certificate: k.certificate,
		Key: strings.TrimSuffix(k.certificate, ".pem") + ".key", Revoked: filepath.Join(beside, "revoked.txt"), Kept: dir + ".revoked"},
		certificate.Options{Log: func(line string) { log.Warn().Msg(line) }})
	if err != nil {
		return nil, failure.Of(err)
	}
	if id := store.Identity(); id.Role != certificate.Mirror {
		return nil, failure.Of(fmt.Errorf("%s is the certificate of %s; must have role mirror: bourse ca issue --role mirror", k.certificate, id))
	}
	return store, nil
}
