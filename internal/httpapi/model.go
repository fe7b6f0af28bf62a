package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/dengxu/dengxu"
)

// maxModel bounds a model that is loaded, in bytes: some twenty times the largest
// that a training has made.
const maxModel = 4 << 20

type modelQuery struct {
	QueuePath
	Full bool `query:"full" doc:"also what can be loaded again: some hundred KB"`
}

func (s *server) model(c *call, p *modelQuery, _ *nothing) (*dengxu.Model, error) {
	read := s.engine.Model
	if p.Full {
		read = s.engine.ExportModel
	}
	m, err := read(c.ctx, p.QueueID)
	return &m, err
}

func (s *server) loadModel(c *call, p *QueuePath, b *dengxu.ModelRequest) (*dengxu.Model, error) {
	m, err := s.engine.LoadModel(c.ctx, c.by(), p.QueueID, b.Model)
	return &m, err
}

func (s *server) forgetModel(c *call, p *QueuePath, _ *nothing) (*nothing, error) {
	_, err := s.engine.ForgetModel(c.ctx, c.by(), p.QueueID)
	return nil, err
}

func (s *server) trainModel(c *call, p *QueuePath, _ *nothing) (*dengxu.Model, error) {
	m, err := s.engine.Train(c.ctx, c.by(), p.QueueID)
	return &m, err
}

// bindLessons answers with a line of JSON for each lesson. What goes wrong after
// the beginning ends the connection.
func bindLessons(s *server, r *route) {
	o := s.operation(r)
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[dengxu.Lesson](), true, "")
	o.Responses["200"] = &huma.Response{
		Description: "lines of JSON, one a token",
		Content:     map[string]*huma.MediaType{"application/x-ndjson": {Schema: schema}},
	}
	huma.Register(s.api, o, func(ctx context.Context, p *QueuePath) (*streamed, error) {
		c := callOf(ctx)
		lessons, err := s.engine.Lessons(ctx, p.QueueID)
		if err != nil {
			return nil, c.problem(err)
		}
		return &streamed{Body: func(huma.Context) {
			c.writer.Header().Set("Content-Type", "application/x-ndjson")
			w := bufio.NewWriterSize(&patient{c.writer, http.NewResponseController(c.writer)}, 1<<16)
			lines := json.NewEncoder(w)
			for i := range lessons {
				if err = lines.Encode(&lessons[i]); err != nil {
					break
				}
			}
			if err == nil {
				err = w.Flush()
			}
			if err != nil {
				s.log.WarnContext(c.ctx, "lessons ended before their end", "queue", p.QueueID, "err", err)
				panic(http.ErrAbortHandler) // the reader must not take what it has for all
			}
		}}, nil
	})
}
