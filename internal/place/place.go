// Package place knows where a file of an export is: a path, "-" for a stream, or
// an object in a bucket, such as s3://bucket/key or file:///folder/key. It owns
// that nothing is at a place before it is whole, and that what is read can be
// read twice. It refuses to know what is in a file.
package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	"gocloud.dev/gcerrors"

	"github.com/dengxu/dengxu"
)

// split takes a URL of an object apart; false for a path.
func split(place string) (bucket, key string, ok bool, err error) {
	if !strings.Contains(place, "://") {
		return "", "", false, nil
	}
	u, err := url.Parse(place)
	if err != nil {
		return "", "", true, dengxu.Fieldf(dengxu.Invalid, "file", "%w", err)
	}
	key = strings.TrimPrefix(u.Path, "/")
	u.Path = ""
	if u.Scheme == "file" {
		u.Path, key = path.Split("/" + key)
		q := u.Query()
		q.Set("metadata", "skip") // no second file with attributes
		q.Set("no_tmp_dir", "true")
		u.RawQuery = q.Encode()
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return "", "", true, dengxu.Fieldf(dengxu.Invalid, "file", "%s names no object in a bucket", place)
	}
	return u.String(), key, true, nil
}

// Output is a file being written. Nothing is at its place before Commit.
type Output struct {
	io.Writer
	commit func() error
	abort  func() error
}

// Commit puts the file at its place. When it fails, nothing is there.
func (o *Output) Commit() error { return o.commit() }

// Abort leaves nothing at the place of a file that was not committed. What went
// to a stream stays there, without its end.
func (o *Output) Abort() error { return o.abort() }

// Create begins a file at a place; "-" is out.
func Create(ctx context.Context, place string, out io.Writer) (*Output, error) {
	nothing := func() error { return nil }
	if place == "-" {
		return &Output{out, nothing, nothing}, nil
	}
	name, key, ok, err := split(place)
	if err != nil {
		return nil, err
	}
	if ok {
		return createObject(ctx, name, key)
	}
	f, err := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+".*.part") // readable by its owner only
	if err != nil {
		return nil, err
	}
	return &Output{
		Writer: f,
		commit: func() error { return putInPlace(f, place) },
		abort:  func() error { return errors.Join(f.Close(), os.Remove(f.Name())) },
	}, nil
}

// putInPlace gives a temporary file its name when all of it is on disk, and
// removes it when it is not.
func putInPlace(f *os.File, place string) error {
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), place)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func createObject(ctx context.Context, name, key string) (*Output, error) {
	bucket, err := blob.OpenBucket(ctx, name)
	if err != nil {
		return nil, away(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	w, err := bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/x-ndjson"})
	if err != nil {
		cancel()
		return nil, errors.Join(away(err), bucket.Close())
	}
	return &Output{
		Writer: w,
		commit: func() error {
			defer cancel()
			return errors.Join(away(w.Close()), bucket.Close())
		},
		abort: func() error {
			cancel() // before Close: so nothing is written
			_ = w.Close()
			return bucket.Close()
		},
	}, nil
}

// away says in the project's words what a bucket's driver says.
func away(err error) error {
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound:
		return dengxu.Fieldf(dengxu.NotFound, "file", "%w", err)
	}
	return dengxu.Fieldf(dengxu.Unavailable, "file", "%w", err)
}

// Open opens the file at a place for reading; "-" is in. What cannot be read
// twice is copied into a temporary file first.
func Open(ctx context.Context, place string, in io.Reader) (io.ReadSeekCloser, error) {
	if place == "-" {
		return spool(in)
	}
	name, key, ok, err := split(place)
	if err != nil {
		return nil, err
	}
	if !ok {
		f, err := os.Open(place)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
			s, err := spool(f)
			return s, errors.Join(err, f.Close())
		}
		return f, nil
	}
	bucket, err := blob.OpenBucket(ctx, name)
	if err != nil {
		return nil, away(err)
	}
	r, err := bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, errors.Join(away(err), bucket.Close())
	}
	s, err := spool(r)
	if err = errors.Join(err, r.Close(), bucket.Close()); err != nil {
		return nil, away(err)
	}
	return s, nil
}

// spooled is a temporary copy; closing it removes it.
type spooled struct{ *os.File }

// Close removes the copy.
func (s spooled) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }

func spool(r io.Reader) (io.ReadSeekCloser, error) {
	f, err := os.CreateTemp("", "dengxu-import-*")
	if err != nil {
		return nil, err
	}
	s := spooled{f}
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("read: %w", err), s.Close())
	}
	_, err = f.Seek(0, io.SeekStart)
	return s, err
}
