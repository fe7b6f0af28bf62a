package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// secretHash is all that is kept of a key's secret. Secrets are random or at
// least 16 characters long and unguessable, so a plain hash is enough: there
// is no small set of guesses that a slow one would protect.
type secretHash [sha256.Size]byte

// keyRecord is the document of an API key.
type keyRecord struct {
	Key  dengxu.Key `json:"key"`
	Hash []byte     `json:"hash"` // SHA-256 of the secret
	// Expired is set by the timer at ExpiresAt: authentication reads no clock.
	Expired bool `json:"expired,omitempty"`
}

// setKeys brings documents of keys into a world that is being made.
func (w *world) setKeys(docs []store.Doc) (bad []error) {
	w.keys = cloneOrNew(w.keys)
	for _, doc := range docs {
		id := dengxu.KeyID(doc.Key.ID)
		old := w.keys[id]
		switch {
		case doc.Version == 0:
			delete(w.keys, id)
			continue
		case old != nil && doc.Version <= old.version:
			continue
		}
		k := &key{id: id, version: doc.Version}
		err := json.Unmarshal(doc.Body, &k.rec)
		if err == nil && len(k.rec.Hash) != sha256.Size {
			err = fmt.Errorf("the hash has %d bytes", len(k.rec.Hash))
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("key %s: %w", id, err))
			continue
		}
		w.keys[id] = k
	}
	w.hashes = make(map[secretHash]*key, len(w.keys))
	for _, k := range w.keys {
		w.hashes[secretHash(k.rec.Hash)] = k
	}
	return bad
}
