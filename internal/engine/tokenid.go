package engine

import (
	"context"
	"crypto/rand"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// tokenIDLen is the length of a token id in store.Base32: 48 bits of
// milliseconds, 8 bits of partition, 79 random bits. It sorts by time, finds
// its partition by itself, and cannot be guessed.
const tokenIDLen = 27

// newTokenID makes an id. now need only be near the commit's time.
func newTokenID(now int64, p store.Partition) dengxu.TokenID {
	var b [17]byte
	for i := range 6 {
		b[i] = byte(now >> (40 - 8*i))
	}
	b[6] = byte(p)
	_, _ = rand.Read(b[7:]) // never fails
	b[16] &= 0xfe           // 135 bits: the 28th character is always 0 and left out
	return dengxu.TokenID(store.Base32.EncodeToString(b[:])[:tokenIDLen])
}

// partitionIn finds the partition in an id; false when it is none of ours.
func partitionIn(id dengxu.TokenID) (store.Partition, bool) {
	if len(id) != tokenIDLen {
		return 0, false
	}
	var b [17]byte
	if _, err := store.Base32.Decode(b[:], []byte(string(id)+"0")); err != nil {
		return 0, false
	}
	return store.Partition(b[6]), true
}

// errNoToken is what an unknown, erased or foreign id answers: no hints.
func errNoToken() error { return dengxu.Errorf(dengxu.NotFound, "no such token") }

// read returns the record of a token, live or archived, and the partition's
// time. It returns NotFound for an unknown id.
func (e *Engine) read(ctx context.Context, id dengxu.TokenID) (store.Token, int64, error) {
	p, err := e.locate(ctx, id)
	if err != nil {
		return store.Token{}, 0, err
	}
	v, err := e.view(ctx, store.Ask{Partition: p, Tokens: []dengxu.TokenID{id}})
	if err != nil {
		return store.Token{}, 0, err
	}
	if v.Tokens[0] == nil {
		return store.Token{}, 0, errNoToken()
	}
	return *v.Tokens[0], v.Now, nil
}

// Whereabouts says which site and queue a token belongs to. It returns
// NotFound for an unknown id.
func (e *Engine) Whereabouts(ctx context.Context, id dengxu.TokenID) (dengxu.SiteID, dengxu.QueueID, error) {
	t, _, err := e.read(ctx, id)
	return t.Site, t.Queue, err
}
