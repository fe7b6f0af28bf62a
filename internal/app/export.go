package app

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/backup"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// Export writes what a store keeps. No server may have it open, unless it is in
// Redis: then servers go on.
func Export(ctx context.Context, o Options, w io.Writer, x backup.ExportOptions) (t backup.Totals, err error) {
	err = apart(ctx, o, refuse, func(s store.Store) error {
		t, err = backup.Export(ctx, w, s, x)
		return err
	})
	return t, err
}

// Import brings a file into a store, which is made if it is not there. No
// server may have it open, unless it is in Redis: then servers go on, and serve
// the new sites when they are whole.
func Import(ctx context.Context, o Options, file io.ReadSeeker, x backup.ImportOptions) (did backup.Imported, err error) {
	// A store is not made for a file that it will not take.
	if _, err := backup.Verify(file); err != nil {
		return did, err
	}
	w := makeIt
	if x.DryRun {
		w = pretend
	}
	err = apart(ctx, o, w, func(s store.Store) error {
		did, err = backup.Import(ctx, file, s, x)
		return err
	})
	return did, err
}

// apart runs do on a store that is opened for it. One that must be there and is
// not is an error; one that may not be made is an empty one in memory.
func apart(ctx context.Context, o Options, w whenMissing, do func(store.Store) error) error {
	a, err := New(o)
	if err != nil {
		return err
	}
	if a.o.StoreURL == inMemory {
		return dengxu.Fieldf(dengxu.Invalid, "store", "a store in memory is gone with its server; ask the server: --url")
	}
	if w != makeIt {
		switch err := exists(ctx, a.o); {
		case err != nil && w == refuse:
			return err
		case err != nil:
			return do(memstore.New(memstore.Options{}))
		}
	}
	s, err := openStore(ctx, a.o)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// whenMissing is what becomes of a store that is not there.
type whenMissing int

const (
	refuse whenMissing = iota
	pretend
	makeIt
)

// export is what the server's own route answers.
func (a *App) export(ctx context.Context, w io.Writer, site dengxu.SiteID) error {
	_, err := backup.Export(ctx, w, a.store, backup.ExportOptions{Site: site, Now: time.Now()})
	return err
}
