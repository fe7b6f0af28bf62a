package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/dengxu/dengxu"
)

// The bodies of joins, under the names that callers write.
type (
	// JoinRequest is what a join may say.
	JoinRequest = dengxu.JoinRequest
	// SiteJoinRequest joins several queues of a site at once.
	SiteJoinRequest = dengxu.SiteJoinRequest
)

// Join puts somebody into a queue. The ticket's id is the holder's credential.
// Refusals: exists (Error.Token is the one in line), closed, full, too_many,
// invalid, forbidden (a public join that says more than it may).
func (c *Client) Join(ctx context.Context, q dengxu.QueueID, req JoinRequest) (dengxu.Ticket, error) {
	var t dengxu.Ticket
	_, err := c.do(ctx, post("/queue/"+escape(q)+"/join", req), &t)
	return t, err
}

// JoinSite puts somebody into several queues of one site in one commit: any
// refusal refuses all. The tickets come in the order of the queues.
func (c *Client) JoinSite(ctx context.Context, s dengxu.SiteID, req SiteJoinRequest) ([]dengxu.Ticket, error) {
	var list dengxu.List[dengxu.Ticket]
	_, err := c.do(ctx, post("/site/"+escape(s)+"/join", req), &list)
	return list.Items, err
}

// Estimate answers "if I joined now".
func (c *Client) Estimate(ctx context.Context, q dengxu.QueueID, like JoinRequest) (dengxu.EstimateAnswer, error) {
	query := url.Values{}
	set(query, "class", like.Class)
	set(query, "priority_group", like.PriorityGroup)
	if like.PartySize > 0 {
		query.Set("party_size", strconv.Itoa(like.PartySize))
	}
	var a dengxu.EstimateAnswer
	_, err := c.do(ctx, get("/queue/"+escape(q)+"/estimate", query), &a)
	return a, err
}

func get(path string, query url.Values) request {
	return request{method: http.MethodGet, path: path, query: query}
}

func post(path string, body any) request {
	return request{method: http.MethodPost, path: path, body: body}
}

// escape makes an id a path element, whatever is in it.
func escape[T ~string](id T) string { return url.PathEscape(string(id)) }

// set leaves a query parameter out when it is empty.
func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}
