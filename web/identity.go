package web

import (
	"context"
	"fmt"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// A batch's identity is unique for each user with jobs in it: two users may choose the same
// one, and neither learns about the other's.

// lockBatch waits until no other request submits under the batch's identity for any of its
// users. It takes the locks in order of user, so that two submissions cannot wait for each
// other.
func (s *batches) lockBatch(ctx context.Context, b *api.Batch) (unlock func(), err error) {
	var held []func()
	unlock = func() {
		for _, free := range held {
			free()
		}
	}
	for _, user := range b.Users() {
		free, err := s.locks.lock(ctx, b.ID+"\n"+user)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, free)
	}
	return unlock, nil
}

// sameContent refuses different content under an identity that is known for one of the
// batch's users.
func (s *batches) sameContent(b *api.Batch, digest string) error {
	for _, user := range b.Users() {
		if known, ok := s.list.batch(user, b.ID); ok && known.digest != digest {
			return huma.Error409Conflict(fmt.Sprintf("batch %s of %q was submitted before with different content; "+
				"a new batch needs a new identity", b.ID, user))
		}
	}
	return nil
}

// suffixes returns the suffixes, by user, that make the names of jobs unique: the suffix of
// the first submission, or else a hash of the identity and the user. Earlier versions hashed
// only the identity, and sites may still remember such jobs.
func (s *batches) suffixes(b *api.Batch) map[string]string {
	all := b.Suffixes()
	older := api.LettersOf(b.ID)
	for user := range all {
		if known, ok := s.list.batch(user, b.ID); ok {
			all[user] = known.suffix
		}
	}
	for i := range b.Jobs {
		r := &b.Jobs[i]
		if e, ok := s.list.get(r.Name + "-" + older); ok && e.batch == "" && e.user == r.User {
			all[r.User] = older
		}
	}
	return all
}
