package redisstore

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dengxu/dengxu/internal/store"
)

// packer writes the part of MessagePack that scripts read with cmsgpack:
// Redis has it built in, and one argument costs less than fifty.
type packer struct{ buf []byte }

func (p *packer) array(n int) { p.sized(n, 0x90, 16, 0xdc) }

func (p *packer) fields(n int) { p.sized(n, 0x80, 16, 0xde) }

// sized writes a header with a length: short ones in one byte, else two bytes
// or four follow wide.
func (p *packer) sized(n int, short byte, below int, wide byte) {
	switch {
	case n < below:
		p.buf = append(p.buf, short|byte(n))
	case n <= math.MaxUint16:
		p.buf = binary.BigEndian.AppendUint16(append(p.buf, wide), uint16(n))
	default:
		p.buf = binary.BigEndian.AppendUint32(append(p.buf, wide+1), uint32(n))
	}
}

func (p *packer) text(s string) {
	p.sized(len(s), 0xa0, 32, 0xda)
	p.buf = append(p.buf, s...)
}

func (p *packer) bytes(b []byte) {
	p.sized(len(b), 0xa0, 32, 0xda)
	p.buf = append(p.buf, b...)
}

func (p *packer) int(v int64) {
	switch {
	case v >= 0 && v < 128:
		p.buf = append(p.buf, byte(v))
	case v < 0 && v >= math.MinInt8:
		p.buf = append(p.buf, 0xd0, byte(v))
	case v >= 0 && v <= math.MaxUint32:
		p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xce), uint32(v))
	default:
		p.buf = binary.BigEndian.AppendUint64(append(p.buf, 0xd3), uint64(v))
	}
}

func (p *packer) bool(v bool) {
	if v {
		p.yes()
	} else {
		p.no()
	}
}

func (p *packer) no() { p.buf = append(p.buf, 0xc2) }

func (p *packer) yes() { p.buf = append(p.buf, 0xc3) }

// Named fields of a table.

func (p *packer) fieldText(name, s string) { p.text(name); p.text(s) }

func (p *packer) fieldInt(name string, v int64) { p.text(name); p.int(v) }

// unpacker reads what a script packed. The first thing that is not as expected
// ends the reading; err tells.
type unpacker struct {
	buf []byte
	at  int
	err error
}

func (u *unpacker) fail(what string) {
	if u.err == nil {
		u.err = fmt.Errorf("answer of a script: %s at byte %d of %d: %w", what, u.at, len(u.buf), store.ErrDamaged)
	}
}

func (u *unpacker) take(n int) []byte {
	if u.err != nil || n < 0 || n > len(u.buf)-u.at {
		u.fail("cut off")
		return nil
	}
	u.at += n
	return u.buf[u.at-n : u.at]
}

func (u *unpacker) byte() byte {
	if b := u.take(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads an unsigned number of n bytes.
func (u *unpacker) number(n int) uint64 {
	var v uint64
	for _, b := range u.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

// array reads the header of an array. A length that the rest cannot have is
// damage, so that nothing is made or looped over for it.
func (u *unpacker) array() int {
	var n int
	switch c := u.byte(); {
	case c&0xf0 == 0x90:
		n = int(c & 0x0f)
	case c == 0x80: // Lua does not tell an empty array from an empty map
	case c == 0xdc:
		n = int(u.number(2))
	case c == 0xdd:
		n = int(u.number(4))
	default:
		u.fail("no array")
		return 0
	}
	if n > len(u.buf)-u.at {
		u.fail("an array that is cut off")
		return 0
	}
	return n
}

// int reads a number that has no fraction.
func (u *unpacker) int() int64 {
	switch c := u.byte(); {
	case c < 0x80:
		return int64(c)
	case c >= 0xe0:
		return int64(int8(c))
	case c >= 0xcc && c <= 0xcf:
		return int64(u.number(1 << (c - 0xcc)))
	case c >= 0xd0 && c <= 0xd3:
		bits := 8 << (c - 0xd0)
		v := int64(u.number(bits / 8))
		return v << (64 - bits) >> (64 - bits)
	case c == 0xcb:
		v := math.Float64frombits(u.number(8))
		if v != math.Trunc(v) {
			u.fail("a fraction")
		}
		return int64(v)
	}
	u.fail("no number")
	return 0
}

// text reads a string; false reads as "".
func (u *unpacker) text() string { return string(u.bytes()) }

// bytes reads a string without copying it; false reads as nil.
func (u *unpacker) bytes() []byte {
	switch c := u.byte(); {
	case c&0xe0 == 0xa0:
		return u.take(int(c & 0x1f))
	case c == 0xd9:
		return u.take(int(u.number(1)))
	case c == 0xda:
		return u.take(int(u.number(2)))
	case c == 0xdb:
		return u.take(int(u.number(4)))
	case c == 0xc2 || c == 0xc0:
		return nil
	}
	u.fail("no string")
	return nil
}

func (u *unpacker) bool() bool {
	switch u.byte() {
	case 0xc2:
		return false
	case 0xc3:
		return true
	}
	u.fail("no boolean")
	return false
}

// no reports whether false comes next, and reads it if so.
func (u *unpacker) no() bool {
	if u.err == nil && u.at < len(u.buf) && u.buf[u.at] == 0xc2 {
		u.at++
		return true
	}
	return false
}
