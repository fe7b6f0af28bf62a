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

func (c cells) token(id dengxu.TokenID) {
	packed := packID(id)
	c.add(keyLive, packed)
	c.add(keyEnded, packed)
}

func (c cells) doc(k store.DocKey) { c.add(keyState, "v"+packKey(k)) }

func (c cells) line(k store.LineKey) { c.add(keyState, "c"+packLine(k)) }

func (c cells) business(b string) { c.add(keyState, "p"+b) }

func (c cells) counter(id dengxu.CounterID) { c.add(keyState, "b"+string(id)) }

// op names an operation by its field.
func (c cells) op(field string) {
	c.add(keyOps, field)
	c.add(keyOps+1, field)
}

func (c cells) pack(p *packer) {
	p.fields(len(c))
	for _, key := range slices.Sorted(maps.Keys(c)) {
		p.int(key)
		p.array(len(c[key]))
		for field := range c[key] {
			p.text(field)
		}
	}
}
