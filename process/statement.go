package process

import (
	"context"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/web"
)

// Statements reads a broker's statement from its journal, which may grow meanwhile.
func Statements(cfg broker.Config, folder string) web.Statements {
	return func(ctx context.Context, each func(broker.Move)) error {
		disk, err := journal.LookInto(folder)
		if err != nil {
			return err
		}
		defer func() { _ = disk.Close() }()
		s := broker.NewStatement(cfg, each)
		_, err = journal.Read(disk, journal.NewCodec(), func(r journal.Record) error {
			s.Replay(r.At, r.Fact)
			return ctx.Err()
		})
		return err
	}
}
