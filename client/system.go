package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/dengxu/dengxu"
)

// Readiness says over which store a server runs, and what an acknowledged
// change survives.
type Readiness struct {
	Store          string `json:"store"`
	Durability     string `json:"durability"`
	DurabilityText string `json:"durability_text"`
}

// Version is which server answers.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Finding is one thing that an audit found wrong.
type Finding struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Health returns nil when the server's process is alive.
func (c *Client) Health(ctx context.Context) error {
	_, err := c.do(ctx, get("/healthz", nil), nil)
	return err
}

// Ready returns nil when the server can answer; Unavailable otherwise.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	return read[Readiness](ctx, c, "/readyz", nil)
}

// Version asks which server answers.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return read[Version](ctx, c, "/version", nil)
}

// auditTime is how long a server may read its whole store.
const auditTime = 10 * time.Minute

// Audit makes the server compare its indexes with its records under one
// snapshot; no findings means that all is well. It needs an admin key.
func (c *Client) Audit(ctx context.Context) ([]Finding, error) {
	var report struct {
		Findings []Finding `json:"findings"`
	}
	r := get("/audit", nil)
	r.wait = auditTime
	_, err := c.do(ctx, r, &report)
	return report.Findings, err
}

// ActionFilter selects actions. Zero fields do not restrict.
type ActionFilter struct {
	Site   dengxu.SiteID
	Actor  string // such as "key:front"
	Cursor string // of the page before
	Limit  int    // 0 = 50; at most 200
}

// Actions returns who did what, newest first: one page of the events that were
// asked for with a key. It needs an admin key.
func (c *Client) Actions(ctx context.Context, f ActionFilter) (dengxu.List[dengxu.Event], error) {
	query := url.Values{}
	set(query, "site", string(f.Site))
	set(query, "actor", f.Actor)
	set(query, "cursor", f.Cursor)
	if f.Limit > 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return read[dengxu.List[dengxu.Event]](ctx, c, "/actions", query)
}
