package client

import (
	"context"
	"net/http"

	"github.com/dengxu/dengxu"
)

// TestRules says what a queue's rules, or the rules in t instead, make of
// example holders. Nobody joins. Codes: not_found, invalid with the field, such
// as queue_rules[0].condition.
func (c *Client) TestRules(ctx context.Context, id dengxu.QueueID, t dengxu.RulesTest) (dengxu.RulesTested, error) {
	return write[dengxu.RulesTested](ctx, c, http.MethodPost, "/queue/"+escape(id)+"/rules/test", t, 0)
}

// ReapplyRules judges those who wait by the present rules of their queue, which
// a change of rules does not do by itself. Repeating it changes nothing more.
// Codes: not_found; forbidden without the right move; unavailable, and then some
// are judged.
func (c *Client) ReapplyRules(ctx context.Context, id dengxu.QueueID) (dengxu.RulesReapplied, error) {
	return write[dengxu.RulesReapplied](ctx, c, http.MethodPost, "/queue/"+escape(id)+"/rules/reapply", nil, 0)
}
