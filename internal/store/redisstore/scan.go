package redisstore

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// plainDocs matches the fields of documents that are not bulky: a field begins
// with the kind.
const plainDocs = "[^~]*"

// pageOf is how many fields of a hash a page of a scan looks at, about: few where
// each may be a bulky document, so that a page is read within an attempt. Those
// that a pattern leaves out count too: a Redis before 7.2 copies what it looks
// at, and others wait meanwhile.
func pageOf(key int, match string) int64 {
	switch {
	case key != keyDocs:
		return 500
	case match == plainDocs:
		return 50
	}
	return 8
}

// scan calls each for the fields of a hash. A field that stands all the time is
// seen, maybe more than once.
func (p *part) scan(ctx context.Context, key int, each func(field, value string) error) error {
	return p.scanMatch(ctx, key, "*", each)
}

// scanMatch is scan of the fields that match a pattern; the others stay with the
// server.
func (p *part) scanMatch(ctx context.Context, key int, match string, each func(field, value string) error) error {
	return p.scanPages(ctx, key, "", each, func(b rueidis.Builder, cursor uint64) rueidis.Completed {
		return b.Hscan().Key(p.key(key)).Cursor(cursor).Match(match).Count(pageOf(key, match)).Build()
	})
}

// scanSet calls each for the members of a sorted set, as scan does for hashes.
func (p *part) scanSet(ctx context.Context, key int, each func(member string, score float64) error) error {
	eachText := func(member, text string) error {
		score, err := parseScore(text)
		if err != nil {
			return err
		}
		return each(member, score)
	}
	return p.scanPages(ctx, key, placeholder, eachText, func(b rueidis.Builder, cursor uint64) rueidis.Completed {
		return b.Zscan().Key(p.key(key)).Cursor(cursor).Count(500).Build()
	})
}

// scansMost is how often a scan is begun anew.
const scansMost = 10

// scanPages reads all pages. A cursor means nothing to another server, so all of
// them come over one connection, and where that ends the scan begins anew; skip
// is what keeps the key existing.
func (p *part) scanPages(
	ctx context.Context, key int, skip string, each func(a, b string) error, page func(rueidis.Builder, uint64) rueidis.Completed,
) (err error) {
	for range scansMost {
		c := p.s.client()
		_, err = p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
			return nil, c.Do(ctx, page(c.B(), 0)).Error() // waits until somebody answers
		})
		if err != nil {
			break
		}
		var broken bool
		broken, err = p.scanOnce(ctx, c, skip, each, page)
		if node, asking := elsewhere(c, err); node != nil && !asking {
			broken, err = p.scanOnce(ctx, node, skip, each, page)
		}
		if !broken {
			break
		}
		err = asRead(outcome(err))
	}
	if err != nil {
		return fmt.Errorf("scan %s: %w", keyNames[key-1], err)
	}
	return nil
}

// scanOnce reads all pages over one connection; broken = it ended early.
func (p *part) scanOnce(
	ctx context.Context, c rueidis.Client, skip string, each func(a, b string) error, page func(rueidis.Builder, uint64) rueidis.Completed,
) (broken bool, err error) {
	err = c.Dedicated(func(d rueidis.DedicatedClient) error {
		for cursor := uint64(0); ; {
			actx, cancel := context.WithTimeout(ctx, attempt)
			e, err := d.Do(actx, page(d.B(), cursor)).AsScanEntry()
			cancel()
			if err != nil {
				broken = ctx.Err() == nil
				return err
			}
			for i := 0; i+1 < len(e.Elements); i += 2 {
				if e.Elements[i] == skip {
					continue
				}
				if err := each(e.Elements[i], e.Elements[i+1]); err != nil {
					return err
				}
			}
			if cursor = e.Cursor; cursor == 0 {
				return nil
			}
		}
	})
	return broken, err
}
