package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
)

// inMemory is the StoreURL of a store that nothing is kept of.
const inMemory = "memory:"

// checkStore refuses, with Invalid, field store, a StoreURL of no kind.
func checkStore(url string) error {
	if dir, ok := strings.CutPrefix(url, "pebble:"); url == "" || url == inMemory || ok && dir != "" {
		return nil
	}
	if kind, rest, ok := strings.Cut(url, ":"); ok && rest != "" {
		url = kind + ":…" // what follows may hold a password
	}
	return dengxu.Fieldf(dengxu.Invalid, "store", "%q is not a store: pebble:DIR or memory:", url)
}

// openStore opens what StoreURL names: pebble in Data by default.
func openStore(o Options) (store.Store, error) {
	if o.StoreURL == inMemory {
		return memstore.New(memstore.Options{}), nil
	}
	dir := storeDir(o)
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, Logger: o.Logger})
	if errors.Is(err, store.ErrUnavailable) { // in use; the error names the folder
		return nil, startError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	return s, nil
}

// startError leaves out what a store says of every failed request: that nothing
// was done.
type startError struct{ err error }

func (e startError) Error() string {
	return strings.TrimSuffix(e.err.Error(), ": "+store.ErrUnavailable.Error())
}

func (e startError) Unwrap() error { return e.err }

// storeDir is the folder of the embedded store.
func storeDir(o Options) string {
	if dir, ok := strings.CutPrefix(o.StoreURL, "pebble:"); ok {
		return dir
	}
	return filepath.Join(o.Data, "store")
}

// Audit opens a store that no server has open and compares its indexes with
// its records.
func Audit(ctx context.Context, o Options) (findings []store.Finding, err error) {
	err = offline(ctx, o, func(e *engine.Engine) error {
		findings, err = e.Audit(ctx)
		return err
	})
	return findings, err
}

// NewAdminKey gives the store's admin key a new secret and returns it. No
// server may have the store open.
func NewAdminKey(ctx context.Context, o Options) (secret string, err error) {
	err = offline(ctx, o, func(e *engine.Engine) error {
		secret, err = newAdminSecret(ctx, e)
		return err
	})
	return secret, err
}

// offline runs do on a store that is opened for it and must be there already.
func offline(ctx context.Context, o Options, do func(*engine.Engine) error) error {
	a, err := New(o)
	if err != nil {
		return err
	}
	if _, err := os.Stat(storeDir(a.o)); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	s, err := openStore(a.o)
	if err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Options{Store: s, Logger: a.log})
	if err == nil {
		err = do(e)
	}
	return errors.Join(err, s.Close())
}
