package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// Position returns what a holder sees of a token, exact now. It needs no key:
// the token id is the credential.
func (c *Client) Position(ctx context.Context, t dengxu.TokenID) (dengxu.Position, error) {
	var p dengxu.Position
	_, err := c.do(ctx, get("/queue/token/"+escape(t)+"/position", nil), &p)
	return p, err
}

// Update is a position with an Ahead and an Estimate that print for people.
type Update struct {
	dengxu.Position
	Ahead    Ahead
	Estimate Estimate
}

// Ahead is how many tokens are ahead: 0 means next, below 0 not waiting.
type Ahead int

// String returns the number, or "–" when not waiting.
func (a Ahead) String() string {
	if a < 0 {
		return "–"
	}
	return fmt.Sprint(int(a))
}

// Estimate is how long the wait may be.
type Estimate struct {
	dengxu.Estimate
	language string // of the text, as the server names it; "" = en
}

// languageOf is the language of a text for an Accept-Language.
func languageOf(accept string) string {
	if strings.HasPrefix(strings.ToLower(accept), "zh") {
		return "zh-CN"
	}
	return ""
}

// String returns the server's sentence, such as "about 10 min, at most 25 min for
// 9 of 10 people", in Chinese when the client's Language is; without one a range
// such as "5–15 min", or why there is none.
func (e Estimate) String() string {
	if text := e.Text[cmp.Or(e.language, "en")]; text != "" {
		return text
	}
	if !e.Known || e.LowSeconds == nil || e.HighSeconds == nil {
		return strings.ReplaceAll(e.Reason, "_", " ")
	}
	if *e.HighSeconds < 60 {
		return "under 1 min"
	}
	// Rounded outwards: a promise that is kept is worth more than a minute.
	low, high := *e.LowSeconds/60, (*e.HighSeconds+59)/60
	if low == high {
		return fmt.Sprintf("%d min", low)
	}
	return fmt.Sprintf("%d–%d min", low, high)
}

func (c *Client) newUpdate(p dengxu.Position) Update {
	u := Update{Position: p, Ahead: -1, Estimate: Estimate{p.Ticket.Estimate, languageOf(c.language)}}
	if p.Rank != nil {
		u.Ahead = Ahead(*p.Rank)
	}
	return u
}

// How Watch polls where the server gives no stream.
const (
	pollAtLeast  = time.Second
	pollAtMost   = time.Minute
	pollByItself = 5 * time.Second // when the server does not say
	streamAgain  = time.Minute     // before a stream is tried anew
)

// Watch yields a token's position now and whenever it changes, until a final
// state. It uses the server's stream and polls where there is none; it
// reconnects for as long as ctx lives, once the server has answered. An error
// ends it: ctx's, or the server's decision (not_found), or that the server
// never answered.
func (c *Client) Watch(ctx context.Context, t dengxu.TokenID) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		w := &watch{c: c, id: t, yield: yield}
		for {
			if time.Now().After(w.noStreamUntil) && !w.follow(ctx) {
				return
			}
			pause, ok := w.poll(ctx)
			if !ok {
				return
			}
			if !sleep(ctx, pause) {
				yield(Update{}, ended(ctx))
				return
			}
		}
	}
}

// watch is one running Watch.
type watch struct {
	c             *Client
	id            dengxu.TokenID
	yield         func(Update, error) bool
	last          dengxu.Position
	seen          bool // last is set
	noStreamUntil time.Time
	pause         backoff
}

// follow yields what the stream tells. It returns false when the watch is over.
func (w *watch) follow(ctx context.Context) bool {
	path := "/queue/token/" + escape(w.id) + "/stream"
	for m, err := range w.c.stream(ctx, path, nil, "") {
		if err != nil {
			// A refusal may mean the stream or the token; the poll will tell.
			if errors.Is(err, errNoStream) || lasting(err) || dengxu.CodeOf(err) == dengxu.TooMany {
				w.noStreamUntil = time.Now().Add(streamAgain)
			}
			return true
		}
		var p dengxu.Position
		if json.Unmarshal([]byte(m.data), &p) != nil || p.ID == "" {
			continue // a kind of message that this client does not know
		}
		w.pause = backoff{}
		if !w.show(p) {
			return false
		}
	}
	return true
}

// poll yields the position once and returns the pause before the next round.
func (w *watch) poll(ctx context.Context) (pause time.Duration, ok bool) {
	p, err := w.c.Position(ctx, w.id)
	if err != nil {
		if w.seen && !lasting(err) && ctx.Err() == nil {
			return w.pause.step(0), true
		}
		w.yield(Update{}, err)
		return 0, false
	}
	if !w.show(p) {
		return 0, false
	}
	if time.Now().After(w.noStreamUntil) {
		return w.pause.step(0), true // only the stream broke
	}
	w.pause = backoff{}
	if p.PollAfterSeconds <= 0 {
		return pollByItself, true
	}
	return min(max(time.Duration(p.PollAfterSeconds*float64(time.Second)), pollAtLeast), pollAtMost), true
}

// show yields p if it tells something new. It returns false when the watch is
// over.
func (w *watch) show(p dengxu.Position) bool {
	same := p
	same.ServerTime, same.AsOf, same.PollAfterSeconds = w.last.ServerTime, w.last.AsOf, w.last.PollAfterSeconds
	if said := w.last.Estimate; len(said.Text) > 0 && maps.Equal(said.Text, same.Estimate.Text) {
		// A second more or less, which people are not told, is nothing new.
		same.Estimate, same.EstimatedWaitSeconds = said, w.last.EstimatedWaitSeconds
	}
	if w.seen && (p.Version < w.last.Version || reflect.DeepEqual(same, w.last)) {
		return true // nothing new, or an answer that was overtaken
	}
	w.last, w.seen = p, true
	return w.yield(w.c.newUpdate(p), nil) && !p.State.Ended()
}
