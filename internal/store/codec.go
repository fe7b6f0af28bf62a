package store

import (
	"encoding/binary"
	"fmt"
)

// The encoding of what stores keep: a version byte, then fields in ascending
// order of their tags. A field is a uvarint tag·2+kind and its value: kind 0 a
// uvarint, kind 1 a length and that many bytes. A zero field is left out, so
// it costs nothing and a record of an older version reads with zeros in the
// fields that came later. A tag is never used again for something else. A tag
// that is not known is an error and not skipped, since writing the record back
// would lose it.

// codecVersion is the first byte of every record.
const codecVersion = 1

// The kinds of a field.
const (
	kindUint  = 0
	kindBytes = 1
)

// Encoder appends the fields of one record to a buffer. Tags must be given in
// ascending order; the same tag may follow itself to make a list.
type Encoder struct{ buf []byte }

// NewEncoder begins a record at the end of dst.
func NewEncoder(dst []byte) *Encoder { return &Encoder{append(dst, codecVersion)} }

// Buf is dst with the record.
func (e *Encoder) Buf() []byte { return e.buf }

func (e *Encoder) put(tag int, v uint64) {
	e.number(uint64(tag)<<1 | kindUint)
	e.number(v)
}

// number writes a number. Most are below 128, one byte.
func (e *Encoder) number(v uint64) {
	if v < 0x80 {
		e.buf = append(e.buf, byte(v))
		return
	}
	e.buf = binary.AppendUvarint(e.buf, v)
}

// head writes the tag of bytes, and how many follow.
func (e *Encoder) head(tag, n int) {
	e.number(uint64(tag)<<1 | kindBytes)
	e.number(uint64(n))
}

// Uint writes v unless it is 0.
func (e *Encoder) Uint(tag int, v uint64) {
	if v != 0 {
		e.put(tag, v)
	}
}

// Int writes v unless it is 0; small values of either sign are short.
func (e *Encoder) Int(tag int, v int64) { e.Uint(tag, zigzag(v)) }

// Bool writes v unless it is false.
func (e *Encoder) Bool(tag int, v bool) {
	if v {
		e.put(tag, 1)
	}
}

// Near writes v, unless it is 0, as its distance from base, which is short
// when they are close. Decoder.Near needs the same base.
func (e *Encoder) Near(tag int, v, base int64) {
	if v != 0 {
		e.put(tag, zigzag(v-base))
	}
}

// Text writes s unless it is empty.
func (e *Encoder) Text(tag int, s string) {
	if s != "" {
		e.Entry(tag, s)
	}
}

// Entry writes s, also when it is empty, as one element of a list.
func (e *Encoder) Entry(tag int, s string) {
	e.head(tag, len(s))
	e.buf = append(e.buf, s...)
}

// Bytes writes b unless it is empty.
func (e *Encoder) Bytes(tag int, b []byte) {
	if len(b) > 0 {
		e.head(tag, len(b))
		e.buf = append(e.buf, b...)
	}
}

// Word writes s as its number in the table of common words, or as text when
// it is not there.
func (e *Encoder) Word(tag int, s string) {
	if s == "" {
		return
	}
	if n := wordNumber(s); n != 0 {
		e.put(tag, n)
		return
	}
	e.Entry(tag, s)
}

// Nested writes a record inside the record.
func (e *Encoder) Nested(tag int, fields func(*Encoder)) {
	e.number(uint64(tag)<<1 | kindBytes)
	start := len(e.buf)
	// Most nested records are shorter than 128 bytes, so that one byte for the
	// length is the right guess; a longer one is moved.
	e.buf = append(e.buf, 0)
	fields(e)
	n := len(e.buf) - start - 1
	if n < 128 {
		e.buf[start] = byte(n)
		return
	}
	var size [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(size[:], uint64(n))
	e.buf = append(e.buf, size[1:k]...)
	copy(e.buf[start+k:], e.buf[start+1:start+1+n])
	copy(e.buf[start:], size[:k])
}

// Decoder reads the fields of one record. The first thing that is wrong with
// it ends the reading: Next answers false and Err tells.
type Decoder struct {
	buf  []byte
	text string // the bytes of buf once more, if a text was asked for: strings are cut out of it
	at   int
	end  int
	err  error

	tag  int
	kind int
	num  uint64
	from int // of the bytes of the field
	to   int
}

// NewDecoder reads the record in b, all of it. Texts that it answers share one
// copy of b, so keeping one keeps all; bytes are copies.
func NewDecoder(b []byte) *Decoder {
	d := &Decoder{buf: b, end: len(b)}
	switch {
	case len(b) == 0:
		d.fail("is empty")
	case b[0] != codecVersion:
		d.fail("has format %d, not %d", b[0], codecVersion)
	default:
		d.at = 1
	}
	return d
}

// Err is nil, or an error that wraps ErrDamaged.
func (d *Decoder) Err() error { return d.err }

func (d *Decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("record %s: %w", fmt.Sprintf(format, args...), ErrDamaged)
	}
}

// Next goes to the next field and reports whether there is one.
func (d *Decoder) Next() bool {
	if d.err != nil || d.at == d.end {
		return false
	}
	key := d.uvarint()
	tag, kind := key>>1, int(key&1)
	if d.err == nil && (tag == 0 || tag > 1<<20 || int(tag) < d.tag) {
		d.fail("has tag %d after %d", tag, d.tag)
	}
	value := d.uvarint()
	if d.err != nil {
		return false
	}
	d.tag, d.kind, d.num = int(tag), kind, value
	if kind == kindBytes {
		if value > uint64(d.end-d.at) {
			d.fail("is cut off in tag %d", tag)
			return false
		}
		d.from, d.to = d.at, d.at+int(value)
		d.at = d.to
	}
	return true
}

// uvarint reads a number. Most are below 128, one byte.
func (d *Decoder) uvarint() uint64 {
	if d.at < d.end && d.buf[d.at] < 0x80 {
		d.at++
		return uint64(d.buf[d.at-1])
	}
	return d.longUvarint()
}

func (d *Decoder) longUvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.buf[d.at:d.end])
	if n <= 0 {
		d.fail("has a bad number")
		return 0
	}
	d.at += n
	return v
}

// Tag is the field's tag.
func (d *Decoder) Tag() int { return d.tag }

func (d *Decoder) want(kind int) bool {
	if d.kind != kind {
		d.fail("has kind %d in tag %d", d.kind, d.tag)
	}
	return d.kind == kind
}

// Uint is the field's number.
func (d *Decoder) Uint() uint64 {
	if !d.want(kindUint) {
		return 0
	}
	return d.num
}

// Int is the field's signed number.
func (d *Decoder) Int() int64 { return unzigzag(d.Uint()) }

// Bool is whether the field is true; the field would be absent otherwise.
func (d *Decoder) Bool() bool {
	if d.Uint() != 1 {
		d.fail("has a bad flag in tag %d", d.tag)
	}
	return true
}

// Near is the number that was written at a distance from base.
func (d *Decoder) Near(base int64) int64 { return base + d.Int() }

// Text is the field's text.
func (d *Decoder) Text() string {
	if !d.want(kindBytes) {
		return ""
	}
	if d.text == "" {
		d.text = string(d.buf)
	}
	return d.text[d.from:d.to]
}

// Bytes is a copy of the field's bytes.
func (d *Decoder) Bytes() []byte {
	if !d.want(kindBytes) {
		return nil
	}
	return append([]byte(nil), d.buf[d.from:d.to]...)
}

// Word is the field's word.
func (d *Decoder) Word() string {
	if d.kind == kindBytes {
		return d.Text()
	}
	if d.num == 0 || d.num > uint64(len(words)) {
		d.fail("has word %d in tag %d", d.num, d.tag)
		return ""
	}
	return words[d.num-1]
}

// Nested reads the record inside the field: field is called for each of its
// fields.
func (d *Decoder) Nested(field func(*Decoder)) {
	if !d.want(kindBytes) || d.err != nil {
		return
	}
	tag, at, end := d.tag, d.at, d.end
	d.tag, d.at, d.end = 0, d.from, d.to
	for d.Next() {
		field(d)
	}
	d.tag, d.at, d.end = tag, at, end
}

// Unknown refuses the field: its tag has no meaning in this version.
func (d *Decoder) Unknown() { d.fail("has the unknown tag %d", d.tag) }

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
