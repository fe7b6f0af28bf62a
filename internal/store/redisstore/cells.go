package redisstore

import (
	"maps"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// cells are the fields of hashes that a script will need, so that it reads
// each hash in one command. A field that is missing here costs a command, and
// nothing else.
type cells map[int64]map[string]struct{}

func (c cells) add(key int64, field string) {
	of := c[key]
	if of == nil {
		of = make(map[string]struct{})
		c[key] = of
	}
	of[field] = struct{}{}
}

// token names a record, wherever it is: what scripts look for in LIVE they look
// for in ENDED too.
func (c cells) token(id dengxu.TokenID) {
	packed := packID(id)
	c.add(keyLive, packed)
}

func (c cells) doc(k store.DocKey) { c.add(keyState, versionField(k)) }

// versionField is the cell with the version of a document, in decimal.
func versionField(k store.DocKey) string { return "v" + packKey(k) }

func (c cells) line(k store.LineKey) { c.add(keyState, "c"+packLine(k)) }

func (c cells) business(b string) { c.add(keyState, personField(b)) }

// personField is the cell with the tokens of a business id.
func personField(business string) string { return "p" + business }

func (c cells) counter(id dengxu.CounterID) { c.add(keyState, counterField(id)) }

// counterField is the cell with the tokens at a counter.
func counterField(id dengxu.CounterID) string { return "b" + string(id) }

// op names an operation by its field, in both hashes of them.
func (c cells) op(field string) { c.add(keyOps, field) }

// pack writes the cells of each key, those of columns first.
func (c cells) pack(p *packer, columns map[int64][]string) {
	keys := make(map[int64]struct{}, len(c)+len(columns))
	for key := range c {
		keys[key] = struct{}{}
	}
	for key := range columns {
		keys[key] = struct{}{}
	}
	p.fields(len(keys))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		p.int(key)
		p.array(len(columns[key]) + len(c[key]))
		for _, field := range columns[key] {
			p.text(field)
		}
		for field := range c[key] {
			p.text(field)
		}
	}
}
