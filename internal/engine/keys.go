package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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

// adminKey is the key that the server's own admin secret belongs to.
const adminKey dengxu.KeyID = "admin"

// newSecret makes the secret of a key: "dx_<id>_" and 26 random characters of
// base32, 130 bits.
func newSecret(id dengxu.KeyID) string { return secretPrefix + string(id) + "_" + rand.Text() }

const secretPrefix = "dx_"

// Authenticate finds the key of a secret. It returns Unauthenticated for an
// unknown or expired one. It reads no clock, since expiry is committed by the
// timer, and no store but for a secret that it does not know.
func (e *Engine) Authenticate(ctx context.Context, secret string) (dengxu.KeyView, error) {
	hash := secretHash(sha256.Sum256([]byte(secret)))
	k := e.world.Load().hashes[hash]
	if k == nil {
		if err := e.lookForKey(ctx, secret); err != nil {
			return dengxu.KeyView{}, err
		}
		k = e.world.Load().hashes[hash]
	}
	if k == nil || subtle.ConstantTimeCompare(k.rec.Hash, hash[:]) != 1 || k.rec.Expired {
		return dengxu.KeyView{}, dengxu.Errorf(dengxu.Unauthenticated, "unknown or expired key")
	}
	return k.view(), nil
}

// lookForKey loads the keys when the one that an unknown secret may belong to
// is not as this process knows it: made, or given another secret, by another
// process.
func (e *Engine) lookForKey(ctx context.Context, secret string) error {
	if !e.shared || !e.misses.take(e.now()) {
		return nil
	}
	id := adminKey // whose secret may be a text that people chose
	if name, ok := strings.CutPrefix(secret, secretPrefix); ok {
		if i := strings.LastIndexByte(name, '_'); i > 0 {
			id = dengxu.KeyID(name[:i])
		}
	}
	w := e.world.Load()
	var version uint64
	if k := w.keys[id]; k != nil {
		version = k.version
	}
	ask := store.Ask{}
	var known checks
	known.add(&ask, store.DocAPIKey, string(id), version)
	v, err := e.view(ctx, ask)
	if err != nil || known.hold(v.Docs) {
		return err
	}
	return e.refreshPart(ctx, 0)
}

func (k *key) view() dengxu.KeyView {
	return dengxu.KeyView{ID: k.id, Version: k.version, Key: k.rec.Key}
}

// keyView is a key with what its settings could do that was perhaps not meant.
// An id in a scope need not exist: it may come later.
func (w *world) keyView(k *key) dengxu.KeyView {
	v := k.view()
	for _, id := range k.rec.Key.Sites {
		if w.sites[id] == nil {
			v.Warnings = append(v.Warnings, fmt.Sprintf("there is no site %s", id))
		}
	}
	for _, id := range k.rec.Key.Queues {
		if w.queues[id] == nil {
			v.Warnings = append(v.Warnings, fmt.Sprintf("there is no queue %s", id))
		}
	}
	return v
}

// Key returns a key without its secret. Codes: not_found, unavailable.
func (e *Engine) Key(ctx context.Context, id dengxu.KeyID) (dengxu.KeyView, error) {
	if err := e.freshKeys(ctx); err != nil {
		return dengxu.KeyView{}, err
	}
	w := e.world.Load()
	k := w.keys[id]
	if k == nil {
		return dengxu.KeyView{}, errNoKey(id)
	}
	return w.keyView(k), nil
}

// Keys returns all keys by id, without secrets.
func (e *Engine) Keys(ctx context.Context) ([]dengxu.KeyView, error) {
	if err := e.freshKeys(ctx); err != nil {
		return nil, err
	}
	w := e.world.Load()
	views := make([]dengxu.KeyView, 0, len(w.keys))
	for _, k := range sortedValues(w.keys) {
		views = append(views, w.keyView(k))
	}
	return views, nil
}

// freshKeys loads the keys where other processes write them too. Whoever looks
// at keys or changes them does so seldom, and must not meet an old one: written
// back, its secret would open again what another process has closed.
func (e *Engine) freshKeys(ctx context.Context) error {
	if !e.shared {
		return nil
	}
	return e.refreshPart(ctx, 0)
}

// changeKey commits an amendment of keys.
func (e *Engine) changeKey(ctx context.Context, by By, decide func(*world) (store.Batch, error)) (replayed bool, err error) {
	if err := e.freshKeys(ctx); err != nil {
		return false, err
	}
	return e.change(ctx, amendment{by: by, decide: decide})
}

// keyEvent tells every process of a key's new version, 0 = deleted.
func keyEvent(id dengxu.KeyID, version uint64, by By) (store.EventSpec, error) {
	data, err := json.Marshal(keyChanged{id, version})
	if err != nil {
		return store.EventSpec{}, fmt.Errorf("key event: %w", err)
	}
	return store.EventSpec{Type: dengxu.EventKeyChanged, Actor: by.Name, Data: data}, nil
}

// keyChanged is the data of a key's event.
type keyChanged struct {
	Key     dengxu.KeyID `json:"key"`
	Version uint64       `json:"version"`
}

// PutKey replaces a key's settings, or makes the key; only the answer that made
// it has the secret, and never a replayed one. Codes: invalid with the field,
// conflict with reason if_match.
func (e *Engine) PutKey(ctx context.Context, by By, id dengxu.KeyID, set dengxu.Key, ifMatch uint64) (done Done[dengxu.KeyView], err error) {
	if err := firstError(dengxu.CheckID("id", string(id)), checkKey(&set)); err != nil {
		return done, err
	}
	secret := ""
	done.Replayed, err = e.changeKey(ctx, by, func(w *world) (store.Batch, error) {
		secret = ""
		var version uint64
		rec := keyRecord{Key: set}
		if old := w.keys[id]; old != nil {
			version, rec.Hash = old.version, old.rec.Hash
		} else {
			secret = newSecret(id)
			hash := sha256.Sum256([]byte(secret))
			rec.Hash = hash[:]
		}
		if err := checkMatch(ifMatch, version); err != nil {
			return store.Batch{}, err
		}
		return e.keyBatch(ctx, by, id, rec, version)
	})
	if err != nil {
		return done, err
	}
	if done.Value, err = e.Key(ctx, id); err == nil && !done.Replayed {
		done.Value.Secret = secret
	}
	return done, err
}

// keyBatch writes a key. Keys belong to no site and live in the first
// partition.
func (e *Engine) keyBatch(ctx context.Context, by By, id dengxu.KeyID, rec keyRecord, version uint64) (store.Batch, error) {
	due := int64(0)
	if !rec.Key.ExpiresAt.IsZero() {
		v, err := e.view(ctx, store.Ask{})
		if err != nil {
			return store.Batch{}, err
		}
		if due = rec.Key.ExpiresAt.UnixMilli(); due <= v.Now {
			return store.Batch{}, dengxu.Fieldf(dengxu.Invalid, "expires_at", "that time is over")
		}
	}
	write, err := docWrite(store.DocAPIKey, string(id), "", rec, due, version)
	if err != nil {
		return store.Batch{}, err
	}
	event, err := keyEvent(id, version+1, by)
	return store.Batch{Op: by.op("key"), Docs: []store.DocWrite{write}, Events: []store.EventSpec{event}}, err
}

// maxScope bounds the sites, and the queues, that a key names.
const maxScope = 1000

// checkKey cleans and checks a key's settings.
func checkKey(set *dengxu.Key) error {
	roles := []dengxu.Role{
		dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleKiosk, dengxu.RoleWorker, dengxu.RoleDisplay,
	}
	if !slices.Contains(roles, set.Role) {
		return dengxu.Fieldf(dengxu.Invalid, "role", "%q is none of admin, operator, kiosk, worker, display", set.Role)
	}
	if len(set.Sites) > maxScope || len(set.Queues) > maxScope {
		return dengxu.Fieldf(dengxu.Invalid, "sites", "a scope names at most %d sites and as many queues", maxScope)
	}
	for i, id := range set.Sites {
		if err := dengxu.CheckID(fmt.Sprintf("sites[%d]", i), string(id)); err != nil {
			return err
		}
	}
	for i, id := range set.Queues {
		if err := dengxu.CheckID(fmt.Sprintf("queues[%d]", i), string(id)); err != nil {
			return err
		}
	}
	for i, right := range set.Rights {
		if right != "pick" && right != "move" || slices.Contains(set.Rights[:i], right) {
			return dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("rights[%d]", i), "%q is neither pick nor move, or named twice", right)
		}
	}
	return cleanName("name", &set.Name)
}

// DeleteKey removes a key; its secret opens nothing from then on. Codes:
// not_found, conflict with reason if_match.
func (e *Engine) DeleteKey(ctx context.Context, by By, id dengxu.KeyID, ifMatch uint64) error {
	_, err := e.changeKey(ctx, by, func(w *world) (store.Batch, error) {
		k := w.keys[id]
		if k == nil {
			return store.Batch{}, errNoKey(id)
		}
		if err := checkMatch(ifMatch, k.version); err != nil {
			return store.Batch{}, err
		}
		event, err := keyEvent(id, 0, by)
		return store.Batch{
			Op: by.op("delete_key"), Docs: []store.DocWrite{deletion(store.DocAPIKey, string(id), "", k.version)},
			Events: []store.EventSpec{event},
		}, err
	})
	return err
}

// Bounds of a secret that people choose, in characters.
const (
	minSecret = 16
	maxSecret = 128
)

// isWhole reports whether a key may do everything, for ever.
func (r *keyRecord) isWhole() bool {
	k := &r.Key
	return k.Role == dengxu.RoleAdmin && len(k.Sites) == 0 && len(k.Queues) == 0 && k.ExpiresAt.IsZero() && !r.Expired
}

// SetAdminSecret gives the key "admin" this secret, and all that it may have
// lost: 16 to 128 printable characters, else Invalid. Without one it makes the key when there is none,
// and returns the secret that it made, "" otherwise.
func (e *Engine) SetAdminSecret(ctx context.Context, secret string) (made string, err error) {
	printable := !slices.ContainsFunc([]byte(secret), func(b byte) bool { return b <= ' ' || b > '~' })
	if secret != "" && (len(secret) < minSecret || len(secret) > maxSecret || !printable) {
		return "", dengxu.Fieldf(dengxu.Invalid, "DENGXU_ADMIN_KEY",
			"the admin key has %d to %d printable characters, no spaces", minSecret, maxSecret)
	}
	by := By{Kind: Admin, Name: "system"}
	_, err = e.changeKey(ctx, by, func(w *world) (store.Batch, error) {
		made = ""
		old, use := w.keys[adminKey], secret
		if use == "" {
			if old != nil {
				return store.Batch{}, errUnchanged
			}
			made = newSecret(adminKey)
			use = made
		}
		hash := sha256.Sum256([]byte(use))
		rec := keyRecord{Key: dengxu.Key{Name: "admin", Role: dengxu.RoleAdmin}, Hash: hash[:]}
		if old == nil {
			return e.keyBatch(ctx, by, adminKey, rec, 0)
		}
		if bytes.Equal(old.rec.Hash, rec.Hash) && old.rec.isWhole() {
			return store.Batch{}, errUnchanged
		}
		return e.keyBatch(ctx, by, adminKey, rec, old.version)
	})
	if err != nil {
		return "", err
	}
	return made, nil
}

// expireKey ends a key whose time has come.
func (e *Engine) expireKey(ctx context.Context, id dengxu.KeyID) error {
	_, err := e.changeKey(ctx, byTimer, func(w *world) (store.Batch, error) {
		k := w.keys[id]
		if k == nil || k.rec.Key.ExpiresAt.IsZero() {
			return store.Batch{}, errUnchanged
		}
		rec := k.rec
		rec.Expired = true
		write, err := docWrite(store.DocAPIKey, string(id), "", rec, 0, k.version)
		if err != nil {
			return store.Batch{}, err
		}
		event, err := keyEvent(id, k.version+1, byTimer)
		return store.Batch{
			Docs:   []store.DocWrite{write},
			Expect: []store.Expectation{store.NotBefore{At: rec.Key.ExpiresAt.UnixMilli()}},
			Events: []store.EventSpec{event},
		}, err
	})
	return err
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
