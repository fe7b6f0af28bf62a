package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/dengxu/dengxu"
)

// trainTime is how much longer than others a training may take.
const trainTime = time.Minute

func modelPath(id dengxu.QueueID) string { return "/queue/" + escape(id) + "/model" }

// Model returns what a queue's estimates have learned, without what can be
// loaded. Codes: not_found.
func (c *Client) Model(ctx context.Context, id dengxu.QueueID) (dengxu.Model, error) {
	return read[dengxu.Model](ctx, c, modelPath(id), nil)
}

// ExportModel is Model with what LoadModel takes, in Model.Model. Codes:
// not_found; conflict, reason no_model, when nothing beat position and rate.
func (c *Client) ExportModel(ctx context.Context, id dengxu.QueueID) (dengxu.Model, error) {
	return read[dengxu.Model](ctx, c, modelPath(id), url.Values{"full": {"true"}})
}

// LoadModel makes a queue's estimates go by a model that ExportModel gave, of this
// or another queue, until the next training. It needs an admin key. Codes:
// not_found; invalid, field model, for one of another version.
func (c *Client) LoadModel(ctx context.Context, id dengxu.QueueID, model json.RawMessage) (dengxu.Model, error) {
	return write[dengxu.Model](ctx, c, http.MethodPut, modelPath(id), dengxu.ModelRequest{Model: model}, 0)
}

// ForgetModel makes a queue's estimates go by position and rate until the next
// training. It needs an admin key. Codes: not_found.
func (c *Client) ForgetModel(ctx context.Context, id dengxu.QueueID) error {
	return c.remove(ctx, modelPath(id), 0)
}

// TrainModel makes a queue learn from all its resolved tokens now, which takes the
// server up to two seconds of a processor, and says how each method did on the
// newest fifth. It needs an admin key. Codes: not_found; conflict, reason
// too_few_lessons, below 1,000 resolved tokens.
func (c *Client) TrainModel(ctx context.Context, id dengxu.QueueID) (dengxu.Model, error) {
	var m dengxu.Model
	_, err := c.do(ctx, request{method: http.MethodPost, path: modelPath(id) + "/train", wait: trainTime}, &m)
	return m, err
}

// Lessons yields the resolved tokens that a queue has to learn from, the oldest
// first. It asks once, without repeats, and needs an admin key; an error ends it,
// and then some are missing. Codes: not_found, unavailable.
func (c *Client) Lessons(ctx context.Context, id dengxu.QueueID) iter.Seq2[dengxu.Lesson, error] {
	return func(yield func(dengxu.Lesson, error) bool) {
		req, err := c.newRequest(ctx, get("/queue/"+escape(id)+"/lessons", nil), nil)
		if err != nil {
			yield(dengxu.Lesson{}, err)
			return
		}
		resp, err := c.http.Do(req)
		if err != nil {
			yield(dengxu.Lesson{}, asError(dengxu.Unavailable, "lessons", err))
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			yield(dengxu.Lesson{}, readProblem(resp))
			return
		}
		for lines := json.NewDecoder(resp.Body); ; {
			var l dengxu.Lesson
			err := lines.Decode(&l)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(dengxu.Lesson{}, asError(dengxu.Unavailable, "the lessons ended before their end", err))
				return
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}
