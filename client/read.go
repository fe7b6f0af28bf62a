package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// Token returns a token as staff see it.
func (c *Client) Token(ctx context.Context, t dengxu.TokenID) (dengxu.Token, error) {
	return read[dengxu.Token](ctx, c, "/token/"+escape(t), nil)
}

// Explain says why a token stands where it stands, or why it was called.
func (c *Client) Explain(ctx context.Context, t dengxu.TokenID) (dengxu.Explanation, error) {
	return read[dengxu.Explanation](ctx, c, "/token/"+escape(t)+"/explain", nil)
}

// History returns the intervals that a token has been through.
func (c *Client) History(ctx context.Context, t dengxu.TokenID) (dengxu.History, error) {
	return read[dengxu.History](ctx, c, "/token/"+escape(t)+"/history", nil)
}

// QueueTokens returns one page of a queue's tokens.
func (c *Client) QueueTokens(ctx context.Context, q dengxu.QueueID, f dengxu.TokenFilter) (dengxu.TokenPage, error) {
	return read[dengxu.TokenPage](ctx, c, "/queue/"+escape(q)+"/tokens", filter(f))
}

// SiteTokens returns one page of a site's tokens.
func (c *Client) SiteTokens(ctx context.Context, s dengxu.SiteID, f dengxu.TokenFilter) (dengxu.TokenPage, error) {
	return read[dengxu.TokenPage](ctx, c, "/site/"+escape(s)+"/tokens", filter(f))
}

// StatsRange is a span of time and the width of its buckets. Zero fields take the
// server's defaults.
type StatsRange struct {
	From, To time.Time
	Bucket   time.Duration
}

// Stats returns a queue's recent past, as far as records are retained.
func (c *Client) Stats(ctx context.Context, q dengxu.QueueID, r StatsRange) (dengxu.Stats, error) {
	query := url.Values{}
	if !r.From.IsZero() {
		query.Set("from", r.From.UTC().Format(time.RFC3339Nano))
	}
	if !r.To.IsZero() {
		query.Set("to", r.To.UTC().Format(time.RFC3339Nano))
	}
	if r.Bucket > 0 {
		query.Set("bucket", strconv.FormatFloat(r.Bucket.Seconds(), 'f', -1, 64))
	}
	return read[dengxu.Stats](ctx, c, "/queue/"+escape(q)+"/stats", query)
}

func filter(f dengxu.TokenFilter) url.Values {
	query := url.Values{}
	states := make([]string, len(f.States))
	for i, s := range f.States {
		states[i] = string(s)
	}
	set(query, "state", strings.Join(states, ","))
	set(query, "number", f.Number)
	set(query, "counter", string(f.CounterID))
	set(query, "q", f.Text)
	set(query, "cursor", f.Cursor)
	if f.Limit > 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return query
}

// read gets one document.
func read[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	var v T
	_, err := c.do(ctx, get(path, query), &v)
	return v, err
}

// readAll gets every page of a list.
func readAll[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	var items []T
	if query == nil {
		query = url.Values{}
	}
	for {
		page, err := read[dengxu.List[T]](ctx, c, path, query)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.NextCursor == "" {
			return items, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}
