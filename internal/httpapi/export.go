package httpapi

import (
	"bufio"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/dengxu/dengxu"
)

// exportWrite is how long one write of an export may take: what a slow reader
// holds up is kept by the store.
const exportWrite = 30 * time.Second

// exportQuery selects what is exported.
type exportQuery struct {
	Site dengxu.SiteID `query:"site" maxLength:"64" doc:"one site, without keys; absent = everything"`
}

// bindExport answers with a file of JSON lines. What goes wrong after its
// beginning ends the connection, so that the file lacks its last line.
func bindExport(s *server, r *route) {
	o := s.operation(r)
	o.Responses["200"] = &huma.Response{
		Description: "lines of JSON; without a last one of kind end the file is not whole",
		Content:     map[string]*huma.MediaType{"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
	huma.Register(s.api, o, func(ctx context.Context, p *exportQuery) (*streamed, error) {
		c := callOf(ctx)
		if p.Site != "" {
			if _, err := s.engine.Site(ctx, p.Site); err != nil {
				return nil, c.problem(err)
			}
		}
		if s.Export == nil {
			return nil, c.problem(dengxu.Errorf(dengxu.NotFound, "this server exports nothing"))
		}
		return &streamed{Body: func(huma.Context) { s.export(c, p.Site) }}, nil
	})
}

func (s *server) export(c *call, site dengxu.SiteID) {
	c.writer.Header().Set("Content-Type", "application/x-ndjson")
	c.writer.WriteHeader(http.StatusOK)
	w := bufio.NewWriterSize(&patient{c.writer, http.NewResponseController(c.writer)}, 1<<16)
	err := s.Export(c.ctx, w, site)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		s.log.WarnContext(c.ctx, "an export ended before its end", "site", site, "err", err)
		panic(http.ErrAbortHandler) // the reader must not take what it has for a whole file
	}
}

// patient gives each write a deadline of its own.
type patient struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.ctrl.SetWriteDeadline(time.Now().Add(exportWrite))
	return p.w.Write(b)
}
