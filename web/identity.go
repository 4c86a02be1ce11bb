package web

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// A batch's identity is unique for each user with jobs in it: two users may choose the same
// one, and neither learns about the other's.

// users lists the users with jobs in the batch, in order of name.
func (b *Batch) users() []string {
	var list []string
	for i := range b.Jobs {
		list = append(list, b.Jobs[i].User)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// lockBatch waits until no other request submits under the batch's identity for any of its
// users. It takes the locks in order of user, so that two submissions cannot wait for each
// other.
func (s *batches) lockBatch(ctx context.Context, b *Batch) (unlock func(), err error) {
	var held []func()
	unlock = func() {
		for _, free := range held {
			free()
		}
	}
	for _, user := range b.users() {
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
func (s *batches) sameContent(b *Batch, digest string) error {
	for _, user := range b.users() {
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
func (s *batches) suffixes(b *Batch) map[string]string {
	all := b.suffixes()
	older := lettersOf(b.ID)
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

// suffixes returns the suffixes of a new batch.
func (b *Batch) suffixes() map[string]string {
	all := map[string]string{}
	for _, user := range b.users() {
		all[user] = lettersOf(b.ID + "\n" + user) // an identity has no line break
	}
	return all
}

// lettersOf is 40 bits of the hash of a text, in eight letters.
func lettersOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(h[:5]))
}

// digest is a hash of the batch's content. Spans stay spans, so that it does not depend
// on the time of the submission. Nor does it depend on price caps, which follow the sites'
// prices.
func (b *Batch) digest() string {
	content := *b
	content.Jobs = slices.Clone(b.Jobs)
	for i := range content.Jobs {
		if r := &content.Jobs[i]; r.Capped {
			r.MaxPrice = nil
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // such a value can always be encoded
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:16])
}
