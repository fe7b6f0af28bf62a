package httpapi

import (
	"net/http"
	"reflect"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"github.com/dengxu/dengxu/internal/store"
)

// Health is the answer of /healthz.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

func (s *server) healthz(*call, *nothing, *nothing) (*Health, error) {
	return &Health{Status: "ok"}, nil
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Status         string           `json:"status" enum:"ready"`
	Store          string           `json:"store" doc:"kind of store"`
	Durability     store.Durability `json:"durability" enum:"D0,D1,D2,D3"`
	DurabilityText string           `json:"durability_text" doc:"what an acknowledged change survives"`
}

// Unready is the answer of /readyz when the server cannot answer: a problem that
// tells of the store as far as it is known.
type Unready struct {
	Problem
	Store          string           `json:"store" doc:"kind of store"`
	Durability     store.Durability `json:"durability" enum:"D0,D1,D2,D3"`
	DurabilityText string           `json:"durability_text" doc:"what an acknowledged change survives"`
}

// unknownText goes with the lowest class: what was found when the store last
// answered promises nothing while it does not.
const unknownText = "What a change survives is not known while the store or its log does not answer."

func (s *server) readyz(c *call, _ *nothing, _ *nothing) (*Readiness, error) {
	err := s.Feed.Ready()
	if err == nil && s.Ready != nil {
		err = s.Ready(c.ctx)
	}
	about := s.Feed.About()
	if err != nil {
		return nil, &Unready{Problem: *c.problem(err), Store: about.Kind, Durability: store.D0Memory, DurabilityText: unknownText}
	}
	return &Readiness{Status: "ready", Store: about.Kind, Durability: about.Durability, DurabilityText: about.Text}, nil
}

// bindReadyz describes the answer of a server that cannot answer too.
func bindReadyz(s *server, r *route) {
	op((*server).readyz)(s, r)
	operationOf(s.api.OpenAPI(), r).Responses["503"] = &huma.Response{
		Description: "the store cannot be read, or its log was not read yet",
		Content: map[string]*huma.MediaType{problemType: {
			Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Unready](), true, ""),
		}},
	}
}

// VersionAnswer is the answer of /version.
type VersionAnswer struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

func (s *server) version(*call, *nothing, *nothing) (*VersionAnswer, error) {
	return &VersionAnswer{Name: "dengxu", Version: s.Version, Go: runtime.Version()}, nil
}

// AuditReport is what an audit found; empty when all is well.
type AuditReport struct {
	Findings []AuditFinding `json:"findings"`
}

// AuditFinding is one thing that an audit found wrong.
type AuditFinding struct {
	Kind string `json:"kind" doc:"which rule is broken"`
	Text string `json:"text"`
}

func (s *server) audit(c *call, _ *nothing, _ *nothing) (*AuditReport, error) {
	found, err := s.engine.Audit(c.ctx)
	if err != nil {
		return nil, err
	}
	report := &AuditReport{Findings: make([]AuditFinding, len(found))}
	for i, f := range found {
		report.Findings[i] = AuditFinding{Kind: f.Kind, Text: f.Text}
	}
	return report, nil
}

func (s *server) openapi(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openapi+json")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(s.spec) // a failed write means that the client has gone
}
