package httpapi

import (
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// staffVerb is a verb on a token; the answer is the token after it.
func staffVerb(verb dengxu.Verb) func(*server, *call, *TokenPath, *dengxu.VerbRequest) (*dengxu.Token, error) {
	return func(s *server, c *call, p *TokenPath, b *dengxu.VerbRequest) (*dengxu.Token, error) {
		if b.QueueID != "" && c.limited() {
			if site, err := s.engine.QueueSite(c.ctx, b.QueueID); err != nil || !c.reaches(site, b.QueueID) {
				return nil, dengxu.Fieldf(dengxu.NotFound, "queue_id", "there is no queue %s", b.QueueID)
			}
		}
		// These two send the token to the counter that they name.
		if b.CounterID != "" && (verb == dengxu.VerbResume || verb == dengxu.VerbTransfer) && c.limited() {
			if err := c.checkCounter(b.CounterID); err != nil {
				return nil, err
			}
		}
		done, err := s.engine.Act(c.ctx, c.by(), verb, p.TokenID, *b)
		if err != nil {
			return nil, err
		}
		c.replayed(done.Replayed)
		return &done.Value, nil
	}
}

func (s *server) edit(c *call, p *TokenPath, b *dengxu.TokenEdit) (*dengxu.Token, error) {
	done, err := s.engine.Edit(c.ctx, c.by(), p.TokenID, *b)
	if err != nil {
		return nil, err
	}
	c.replayed(done.Replayed)
	return &done.Value, nil
}

func (s *server) token(c *call, p *TokenPath, _ *nothing) (*dengxu.Token, error) {
	t, err := s.engine.Token(c.ctx, p.TokenID)
	return &t, err
}

func (s *server) explain(c *call, p *TokenPath, _ *nothing) (*dengxu.Explanation, error) {
	x, err := s.engine.Explain(c.ctx, p.TokenID)
	return &x, err
}

func (s *server) history(c *call, p *TokenPath, _ *nothing) (*dengxu.History, error) {
	h, err := s.engine.History(c.ctx, p.TokenID)
	return &h, err
}

// TokenQuery selects tokens of a list.
type TokenQuery struct {
	State     string           `query:"state" maxLength:"128" doc:"one or several, with commas"`
	Number    string           `query:"number" maxLength:"64" doc:"printed label, exact"`
	CounterID dengxu.CounterID `query:"counter" maxLength:"64"`
	Text      string           `query:"q" maxLength:"128" doc:"part of name, phone, business id or number"`
	Cursor    string           `query:"cursor" maxLength:"512" doc:"next_cursor of the page before"`
	Limit     int              `query:"limit" minimum:"1" maximum:"200" doc:"50 when absent"`
}

type (
	queueTokensQuery struct {
		QueuePath
		TokenQuery
	}
	siteTokensQuery struct {
		SitePath
		TokenQuery
	}
	estimateQuery struct {
		QueuePath
		Class         string `query:"class" maxLength:"64"`
		PriorityGroup string `query:"priority_group" maxLength:"64"`
		PartySize     int    `query:"party_size" minimum:"0" maximum:"1000"`
	}
	statsQuery struct {
		QueuePath
		From   time.Time `query:"from" doc:"default: a day before to"`
		To     time.Time `query:"to" doc:"default: now"`
		Bucket float64   `query:"bucket" minimum:"1" maximum:"31622400" doc:"seconds; default 3600"`
	}
)

func (q *TokenQuery) filter() dengxu.TokenFilter {
	f := dengxu.TokenFilter{
		Number: q.Number, CounterID: q.CounterID, Text: strings.TrimSpace(q.Text), Cursor: q.Cursor, Limit: q.Limit,
	}
	if q.State != "" {
		for word := range strings.SplitSeq(q.State, ",") {
			f.States = append(f.States, dengxu.State(strings.TrimSpace(word)))
		}
	}
	return f
}

func (s *server) queueTokens(c *call, p *queueTokensQuery, _ *nothing) (*dengxu.TokenPage, error) {
	page, err := s.engine.QueueTokens(c.ctx, p.QueueID, p.filter())
	return &page, err
}

func (s *server) siteTokens(c *call, p *siteTokensQuery, _ *nothing) (*dengxu.TokenPage, error) {
	page, err := s.engine.SiteTokens(c.ctx, p.SiteID, p.filter())
	if err != nil {
		return nil, err
	}
	// A key for single queues sees theirs; its pages may be short.
	page.Items = slices.DeleteFunc(page.Items, func(t dengxu.Token) bool { return !c.reaches(t.Site, t.QueueID) })
	return &page, nil
}

func (s *server) estimate(c *call, p *estimateQuery, _ *nothing) (*dengxu.EstimateAnswer, error) {
	a, err := s.engine.Estimate(c.ctx, p.QueueID, p.Class, p.PriorityGroup, p.PartySize)
	return &a, err
}

func (s *server) stats(c *call, p *statsQuery, _ *nothing) (*dengxu.Stats, error) {
	bucket := time.Hour
	if p.Bucket != 0 {
		if !(p.Bucket >= 1) { // a NaN, which no bound of a schema catches
			return nil, dengxu.Fieldf(dengxu.Invalid, "bucket", "bucket is not a number")
		}
		bucket = time.Duration(p.Bucket * float64(time.Second))
	}
	st, err := s.engine.Stats(c.ctx, p.QueueID, p.From, p.To, bucket)
	return &st, err
}
