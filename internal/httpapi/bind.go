package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/dengxu/dengxu"
)

// nothing is the body of a request or an answer that has none.
type nothing struct{}

// output is what huma writes: the value, or with a nil one only a status.
type output[T any] struct {
	Status int
	Body   *T
}

// binder registers one route.
type binder func(*server, *route)

// op makes a handler into an operation. It is THE adapter: P are the
// parameters of path, query and header, B is the body, T the answer. huma has
// validated both by their schemas; a nil answer is 204. The handler may set
// the call's status and headers.
func op[P, B, T any](handle func(*server, *call, *P, *B) (*T, error)) binder {
	return func(s *server, r *route) {
		o := s.operation(r)
		if body := reflect.TypeFor[B](); body != reflect.TypeFor[nothing]() {
			r.takesBody = true
			o.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{
				"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(body, true, r.id)},
			}}
		}
		if reflect.TypeFor[T]() == reflect.TypeFor[nothing]() {
			o.DefaultStatus = http.StatusNoContent
		}
		huma.Register(s.api, o, func(ctx context.Context, p *P) (*output[T], error) {
			c := callOf(ctx)
			b := new(B)
			if len(c.body) > 0 {
				// Types with a JSON form of their own may refuse what the
				// schema has let through.
				if err := dengxu.JSONError(json.Unmarshal(c.body, b)); err != nil {
					return nil, c.problem(err)
				}
			}
			value, err := handle(s, c, p, b)
			if made, ok := err.(huma.StatusError); ok { //nolint:errorlint // an answer, not a cause
				return nil, made
			}
			if err != nil {
				return nil, c.problem(err)
			}
			out := &output[T]{Status: c.status, Body: value}
			switch {
			case value == nil && out.Status == 0:
				out.Status = http.StatusNoContent
			case out.Status == 0:
				out.Status = o.DefaultStatus
			}
			return out, nil
		})
		described := operationOf(s.api.OpenAPI(), r).Responses
		if reflect.TypeFor[T]() == reflect.TypeFor[nothing]() {
			described["204"].Content = nil
		}
		if r.creates {
			described["201"] = &huma.Response{Description: "made by this request", Content: described["200"].Content}
		}
	}
}

// streamed is what huma writes of a stream.
type streamed struct {
	Body func(huma.Context)
}

// stream makes a handler into an operation that answers with server-sent
// events. What the handler refuses is a problem like any other; after that,
// the function it returns has the connection until it ends.
func stream[P any](handle func(*server, *call, *P) (func(*sse), error)) binder {
	return func(s *server, r *route) {
		o := s.operation(r)
		o.Responses["200"] = &huma.Response{
			Description: "server-sent events",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}
		huma.Register(s.api, o, func(ctx context.Context, p *P) (*streamed, error) {
			c := callOf(ctx)
			run, err := handle(s, c, p)
			if err != nil {
				return nil, c.problem(err)
			}
			return &streamed{Body: func(huma.Context) { run(newSSE(c)) }}, nil
		})
	}
}

// raw registers a handler that answers by itself, such as the description.
func raw(handle func(*server, http.ResponseWriter, *http.Request)) binder {
	return func(s *server, r *route) {
		s.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) {
			visitOf(req.Context()).operation = r.id
			handle(s, w, req)
		})
	}
}

// operation is what huma and the description need to know of a route.
func (s *server) operation(r *route) huma.Operation {
	o := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, DefaultStatus: r.success(),
		Summary: r.summary, Description: r.describe(), Tags: []string{r.tag},
		Middlewares: huma.Middlewares{s.gate(r)},
		Responses:   map[string]*huma.Response{},
	}
	o.Responses[strconv.Itoa(r.success())] = &huma.Response{Description: http.StatusText(r.success())}
	o.Responses["default"] = &huma.Response{
		Description: "refused: code and reason say why",
		Content: map[string]*huma.MediaType{problemType: {
			Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, ""),
		}},
	}
	if r.empty != "" {
		o.Responses["204"] = &huma.Response{
			Description: r.empty,
			Headers:     map[string]*huma.Param{headerReason: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}
	}
	if r.mutates {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: headerKey, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(128)},
			Description: "a repeat with the same key has one effect and the same answer, with " + headerReplayed + ": true",
		})
	}
	if len(r.roles) > 0 {
		need := map[string][]string{"key": {}}
		o.Security = []map[string][]string{need}
		if r.public || r.holder {
			o.Security = append(o.Security, map[string][]string{})
		}
	}
	return o
}

// describe says who may ask, in the words of the table.
func (r *route) describe() string {
	var who []string
	for _, role := range r.roles {
		who = append(who, string(role))
	}
	switch {
	case r.holder:
		who = append(who, "whoever has the token id")
	case r.public:
		who = append(who, "anyone without a key")
	}
	text := "For " + strings.Join(who, ", ") + "."
	if r.notes != "" {
		text = r.notes + "\n\n" + text
	}
	return text
}

// operationOf finds a route in the description.
func operationOf(api *huma.OpenAPI, r *route) *huma.Operation {
	item := api.Paths[r.path]
	if item == nil {
		return nil
	}
	switch r.method {
	case http.MethodGet:
		return item.Get
	case http.MethodPut:
		return item.Put
	case http.MethodPost:
		return item.Post
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	panic(fmt.Sprintf("httpapi: route %s has the method %s", r.id, r.method))
}
