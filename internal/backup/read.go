package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// lineMost is the longest line that a file may have: a record with all its
// fields at their limits is far below.
const lineMost = 16 << 20

// parse reads one line strictly: a field that is not known would be lost.
func parse(text []byte) (*line, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	l := new(line)
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value in a line")
	}
	return l, nil
}

// damaged is what a file that cannot be taken is refused with.
func damaged(n int, format string, args ...any) error {
	return dengxu.Fieldf(dengxu.Invalid, "file", "line %d: %w; nothing of it was imported", n, fmt.Errorf(format, args...))
}

// readAll checks a whole file, calls each with every row and the partition that
// it comes from, and returns the header. It reads to the end, and refuses with
// Invalid what is cut off, changed or of another format.
func readAll(r io.Reader, each func(partition int, r *store.Row) error) (*Header, Totals, error) {
	f := reading{lines: bufio.NewReaderSize(r, 1<<16), each: each, sum: sha256.New(), partition: -1}
	err := f.all()
	return f.header, f.totals, err
}

// Verify reads a whole file, checks it as Import does, and goes back to its
// beginning. Code invalid: it is damaged or no export.
func Verify(file io.ReadSeeker) (Totals, error) {
	_, t, err := readAll(file, func(int, *store.Row) error { return nil })
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return t, err
}

// Copy copies a file from src to dst and checks it on the way. What it has copied
// is no export when it returns an error.
func Copy(dst io.Writer, src io.Reader, progress func(Totals)) (Totals, error) {
	f := reading{lines: bufio.NewReaderSize(io.TeeReader(src, dst), 1<<16), sum: sha256.New(), partition: -1}
	f.each = func(int, *store.Row) error {
		progress(f.totals)
		return nil
	}
	err := f.all()
	return f.totals, err
}

// reading is a file being read.
type reading struct {
	lines     *bufio.Reader
	each      func(int, *store.Row) error
	n         int       // of the line
	sum       hash.Hash // of the lines before
	header    *Header
	partition int // of the rows, -1 before the first
	totals    Totals
	ended     bool
}

func (f *reading) all() error {
	for !f.ended {
		if err := f.next(); err != nil {
			return err
		}
	}
	if _, err := f.lines.ReadByte(); !errors.Is(err, io.EOF) {
		return damaged(f.n, "there is something behind the end")
	}
	return nil
}

func (f *reading) next() error {
	text, err := readLine(f.lines)
	f.n++
	if errors.Is(err, io.EOF) {
		return damaged(f.n, "the file is cut off")
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", f.n, err)
	}
	l, err := parse(text)
	if err != nil {
		return damaged(f.n, "%w", err)
	}
	f.totals.Bytes += int64(len(text))
	switch {
	case l.Kind == kindEnd:
		return f.end(l)
	case (l.Kind == kindHeader) != (f.header == nil):
		return damaged(f.n, "this is no export of dengxu")
	case l.Kind == kindHeader:
		err = f.begin(l)
	default:
		err = f.row(l)
	}
	f.sum.Write(text)
	return err
}

func (f *reading) begin(l *line) error {
	if l.Header == nil || l.Header.ID == "" {
		return damaged(f.n, "this is no export of dengxu")
	}
	if l.Header.Format != format {
		return damaged(f.n, "the file has format %d, this program knows %d", l.Header.Format, format)
	}
	f.header = l.Header
	return nil
}

func (f *reading) row(l *line) error {
	if err := l.Row.Check(); err != nil {
		return damaged(f.n, "%w", err)
	}
	if l.Kind == store.RowNumbers {
		if l.Partition == nil || *l.Partition <= f.partition || *l.Partition >= f.header.Partitions {
			return damaged(f.n, "numbers of a partition that cannot come here")
		}
		f.partition = *l.Partition
	}
	if f.partition < 0 {
		return damaged(f.n, "a row of no partition")
	}
	f.totals.count(&l.Row)
	return f.each(f.partition, &l.Row)
}

func (f *reading) end(l *line) error {
	if f.header == nil || l.End == nil {
		return damaged(f.n, "this is no export of dengxu")
	}
	if sum := hex.EncodeToString(f.sum.Sum(nil)); l.End.Checksum != sum || l.End.Rows != f.totals.Rows {
		return damaged(f.n, "the file was changed: it has %d rows with checksum %.12s…, and says %d and %.12s…", f.totals.Rows, sum, l.End.Rows, l.End.Checksum)
	}
	f.ended = true
	return nil
}

// readLine reads a whole line, with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > lineMost {
			return nil, fmt.Errorf("it is longer than %d bytes", lineMost)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}
