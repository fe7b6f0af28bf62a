package pebblestore

import (
	"bytes"
	"slices"
)

// opFilter answers, for nearly every operation that was never seen, that it
// was not, without a look at the disk: nearly every join asks. It is a list of
// Bloom filters whose keys fall into one cache line each (Putze, Sanders and
// Singler 2007), each twice as large as the one before; two bytes an
// operation. A filter goes when the last of its operations is over.
type opFilter struct {
	parts  []*filterPart
	loaded int64 // when the last of those that were loaded is over, 0 = there are none
}

type filterPart struct {
	lines [][8]uint64 // 512 bits
	room  int         // for how many more keys
	last  int64       // when the last of its operations is over
}

const (
	filterFirst = 1 << 14 // keys of the first part: 32 KB
	filterMost  = 1 << 22 // keys of the largest
	filterLine  = 32      // keys a line: 16 bits each, about 0.3 % false alarms
	filterBits  = 6       // bits a key
)

func (f *opFilter) add(key []byte, expires int64) {
	if bytes.HasPrefix(key, loadedPrefix) {
		f.loaded = max(f.loaded, expires)
	}
	n := len(f.parts)
	if n == 0 || f.parts[n-1].room == 0 {
		size := filterFirst
		if n > 0 {
			size = min(2*filterLine*len(f.parts[n-1].lines), filterMost)
		}
		f.parts = append(f.parts, &filterPart{lines: make([][8]uint64, size/filterLine), room: size})
		n++
	}
	p := f.parts[n-1]
	p.room--
	p.last = max(p.last, expires)
	h := hashOf(key, nil)
	line := p.line(h)
	for range filterBits {
		line[h>>6&7] |= 1 << (h & 63)
		h >>= 9
	}
}

// line is chosen by the upper bits; the lower 54 choose the bits in it.
func (p *filterPart) line(h uint64) *[8]uint64 {
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	return &p.lines[(h>>32)*uint64(len(p.lines))>>32]
}

// has reports whether key may have been added; it is sure when it was not.
func (f *opFilter) has(key []byte) bool {
	hash := hashOf(key, nil)
	for _, p := range f.parts {
		h, line, all := hash, p.line(hash), true
		for range filterBits {
			all = all && line[h>>6&7]&(1<<(h&63)) != 0
			h >>= 9
		}
		if all {
			return true
		}
	}
	return false
}

// forget gives up the parts whose operations are all over.
func (f *opFilter) forget(now int64) {
	if f.loaded <= now {
		f.loaded = 0
	}
	f.parts = slices.DeleteFunc(f.parts, func(p *filterPart) bool { return p.room == 0 && p.last <= now })
}
