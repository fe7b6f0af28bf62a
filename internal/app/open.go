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
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// inMemory is the StoreURL of a store that nothing is kept of.
const inMemory = "memory:"

// The values of Options.Durability.
const (
	durabilityFast       = "fast"
	durabilityReplicated = "replicated"
)

// checkStore refuses, with Invalid, a StoreURL of no kind, and a durability
// where there is none to choose.
func checkStore(url, durability string) error {
	if err := checkURL(url); err != nil {
		return err
	}
	switch {
	case durability != "" && durability != durabilityFast && durability != durabilityReplicated:
		return dengxu.Fieldf(dengxu.Invalid, "durability", "%q is neither %s nor %s", durability, durabilityFast, durabilityReplicated)
	case durability == durabilityReplicated && url == inMemory:
		return dengxu.Fieldf(dengxu.Invalid, "durability", "replicated is a choice of Redis: a store in memory keeps nothing")
	case durability == durabilityReplicated && !onRedis(url):
		return dengxu.Fieldf(dengxu.Invalid, "durability", "replicated is a choice of Redis: a folder has no replicas, and is always synced before the answer")
	}
	return nil
}

// checkURL refuses, with Invalid, field store, a StoreURL of no kind.
func checkURL(url string) error {
	if dir, ok := strings.CutPrefix(url, "pebble:"); url == "" || url == inMemory || ok && dir != "" {
		return nil
	}
	if onRedis(url) {
		if _, err := redisstore.ParseURL(url); err != nil {
			return dengxu.Fieldf(dengxu.Invalid, "store", "%v", err)
		}
		return nil
	}
	if kind, rest, ok := strings.Cut(url, ":"); ok && rest != "" {
		url = kind + ":…" // what follows may hold a password
	}
	return dengxu.Fieldf(dengxu.Invalid, "store", "%q is not a store: pebble:DIR, memory: or redis://HOST:PORT", url)
}

// onRedis reports whether a StoreURL names a store that others may share.
func onRedis(url string) bool { return strings.HasPrefix(url, "redis") }

// redisOptions are those of the Redis store that StoreURL names.
func redisOptions(o Options) (redisstore.Options, error) {
	r, err := redisstore.ParseURL(o.StoreURL)
	r.Replicated, r.Logger = o.Durability == durabilityReplicated, o.Logger
	return r, err
}

// StoreName is what StoreURL names, without a password.
func StoreName(o Options) string {
	switch {
	case o.StoreURL == inMemory:
		return inMemory
	case onRedis(o.StoreURL):
		return redisstore.Shown(o.StoreURL)
	}
	return "pebble:" + storeDir(o)
}

// openStore opens what StoreURL names: pebble in Data by default.
func openStore(ctx context.Context, o Options) (store.Store, error) {
	if o.StoreURL == inMemory {
		return memstore.New(memstore.Options{}), nil
	}
	if onRedis(o.StoreURL) {
		return openRedis(ctx, o)
	}
	dir := storeDir(o)
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, Logger: o.Logger})
	if errors.Is(err, store.ErrUnavailable) { // in use; the error names the folder
		return nil, fmt.Errorf("%w; stop that server first", startError{err})
	}
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	return s, nil
}

func openRedis(ctx context.Context, o Options) (store.Store, error) {
	r, err := redisOptions(o)
	if err != nil {
		return nil, err
	}
	s, err := redisstore.Open(ctx, r)
	if err != nil {
		return nil, atRedis(o, err)
	}
	if r.Replicated { // else the first change would fail, and nobody would know why
		report, err := s.Check(ctx)
		if err == nil {
			err = report.Unreplicated()
		}
		if err != nil {
			return nil, errors.Join(atRedis(o, err), s.Close())
		}
	}
	return s, nil
}

// atRedis is an error of a store in Redis that does not open: Unavailable when
// it may open later.
func atRedis(o Options, err error) error {
	told := fmt.Errorf("open the store at %s: %w", redisstore.Shown(o.StoreURL), startError{err})
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown) {
		return dengxu.Errorf(dengxu.Unavailable, "%w", told)
	}
	return told
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

// Audit opens a store that no server has open, or one in Redis, and compares its
// indexes with its records.
func Audit(ctx context.Context, o Options) (findings []store.Finding, err error) {
	err = offline(ctx, o, func(e *engine.Engine) error {
		findings, err = e.Audit(ctx)
		return err
	})
	return findings, err
}

// NewAdminKey gives the store's admin key a new secret and returns it. No
// server may have the store open, unless it is in Redis.
func NewAdminKey(ctx context.Context, o Options) (secret string, err error) {
	err = offline(ctx, o, func(e *engine.Engine) error {
		secret, err = newAdminSecret(ctx, e)
		return err
	})
	return secret, err
}

// exists refuses a store that is not there yet: it is not made by being looked
// for.
func exists(ctx context.Context, o Options) error {
	if o.StoreURL == inMemory {
		return nil
	}
	if !onRedis(o.StoreURL) {
		_, err := os.Stat(storeDir(o))
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("there is no store in %s; name the folder that serve was started with", storeDir(o))
		}
		return err
	}
	r, err := redisOptions(o)
	if err != nil {
		return err
	}
	there, err := redisstore.Exists(ctx, r)
	if err != nil {
		return atRedis(o, err)
	}
	if !there {
		return fmt.Errorf("nothing of dengxu is at %s", redisstore.Shown(o.StoreURL))
	}
	return nil
}

// offline runs do on a store that is opened for it and must be there already;
// servers may go on over one in Redis.
func offline(ctx context.Context, o Options, do func(*engine.Engine) error) error {
	a, err := New(o)
	if err != nil {
		return err
	}
	if err := exists(ctx, a.o); err != nil {
		return err
	}
	s, err := openStore(ctx, a.o)
	if err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Options{Store: s, Logger: a.log})
	if err == nil {
		err = do(e)
	}
	return errors.Join(err, s.Close())
}
