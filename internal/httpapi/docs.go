package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// docsPage is the page for people, made once from the description.
type docsPage struct {
	html   []byte
	policy string
}

//go:embed docs.html
var docsSource string

//go:embed docs.css
var docsStyle string

// describe completes the description and makes the page from it.
func (s *server) describe() {
	api := s.api.OpenAPI()
	api.Info.Title = "dengxu"
	api.Info.Description = "Waiting lines: people, tasks, messages. Every refusal is a problem document (RFC 9457) with a code of a closed list. " +
		"All paths also stand under /v1."
	api.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"key": {Type: "http", Scheme: "bearer", Description: "an API key, or the cookie of a signed-in browser"},
	}
	for _, name := range []string{tagJoin, tagHolder, tagCall, tagServe, tagRead, tagManage, tagFeed, tagSystem} {
		api.Tags = append(api.Tags, &huma.Tag{Name: name})
	}
	for i := range s.routes {
		if r := &s.routes[i]; r.verb != "" {
			operationOf(api, r).RequestBody.Content["application/json"].Schema = verbSchema(api.Components.Schemas, r.verb)
		}
	}
	// huma describes its own errors beside ours, and the answer that is none.
	for _, name := range []string{"ErrorModel", "ErrorDetail", "Nothing"} {
		delete(api.Components.Schemas.Map(), name)
	}
	// The body of all verbs is what huma validates by, and nothing to describe.
	schemas := api.Components.Schemas.Map()
	whole := schemas[verbBody]
	delete(schemas, verbBody)
	spec, err := json.MarshalIndent(api, "", "  ")
	schemas[verbBody] = whole
	if err != nil {
		panic(fmt.Sprintf("httpapi: describe the API: %v", err)) // programmer error: the types are fixed
	}
	s.spec = append(spec, '\n')
	s.docs = newDocsPage(api, s.routes)
}

// docsOperation is one operation as the page shows it.
type docsOperation struct {
	Method, Path, ID, Summary, Description string
	Parameters                             []docsField
	Body                                   []docsField
	Answer                                 string
}

// docsField is a parameter, or a field of a body.
type docsField struct {
	Name, Where, Type, Text string
	Required                bool
}

type docsGroup struct {
	Tag        string
	Operations []docsOperation
}

func newDocsPage(api *huma.OpenAPI, routes []route) docsPage {
	var groups []docsGroup
	for _, tag := range api.Tags {
		g := docsGroup{Tag: tag.Name}
		for i := range routes {
			if routes[i].tag == tag.Name {
				g.Operations = append(g.Operations, docsOf(api, &routes[i]))
			}
		}
		groups = append(groups, g)
	}
	sum := sha256.Sum256([]byte(docsStyle))
	var out bytes.Buffer
	page := template.Must(template.New("docs").Parse(docsSource))
	err := page.Execute(&out, map[string]any{
		"Style": template.CSS(docsStyle), //nolint:gosec // our own file
		"Info":  api.Info, "Groups": groups,
	})
	if err != nil {
		panic(fmt.Sprintf("httpapi: docs page: %v", err)) // programmer error: no input but the table
	}
	return docsPage{
		html: out.Bytes(),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; frame-ancestors 'none'; base-uri 'none'",
	}
}

func docsOf(api *huma.OpenAPI, r *route) docsOperation {
	d := docsOperation{Method: r.method, Path: r.path, ID: r.id, Summary: r.summary}
	o := operationOf(api, r)
	if o == nil {
		return d // raw: it has no parameters
	}
	d.Description = o.Description
	for _, p := range o.Parameters {
		d.Parameters = append(d.Parameters, docsField{
			Name: p.Name, Where: p.In, Type: typeOf(api, p.Schema), Text: p.Description, Required: p.Required,
		})
	}
	if o.RequestBody != nil {
		d.Body = fieldsOf(api, o.RequestBody.Content["application/json"].Schema)
	}
	if ok := o.Responses[fmt.Sprint(r.success())]; ok != nil {
		for _, media := range ok.Content {
			d.Answer = typeOf(api, media.Schema)
		}
	}
	return d
}

// fieldsOf lists the fields of a body by name.
func fieldsOf(api *huma.OpenAPI, schema *huma.Schema) []docsField {
	if schema.Ref != "" {
		schema = api.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	var fields []docsField
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		f := schema.Properties[name]
		fields = append(fields, docsField{
			Name: name, Type: typeOf(api, f), Text: f.Description, Required: slices.Contains(schema.Required, name),
		})
	}
	if len(fields) == 0 {
		fields = append(fields, docsField{Name: "…", Type: typeOf(api, schema), Text: schema.Description})
	}
	return fields
}

// typeOf is a schema in a few words.
func typeOf(api *huma.OpenAPI, s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			words[i] = fmt.Sprint(v)
		}
		return strings.Join(words, " | ")
	case s.Items != nil:
		return "list of " + typeOf(api, s.Items)
	case len(s.AnyOf) > 0:
		words := make([]string, len(s.AnyOf))
		for i, one := range s.AnyOf {
			words[i] = typeOf(api, one)
		}
		return strings.Join(words, " | ")
	case s.Format != "" && s.Type == huma.TypeString:
		return s.Format
	case s.Type == "":
		return "any"
	}
	return s.Type + bounds(s)
}

// bounds are the limits of a number or a text, in a few words.
func bounds(s *huma.Schema) string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf(", %s to %s", plain(*s.Minimum), plain(*s.Maximum))
	case s.Minimum != nil:
		return fmt.Sprintf(", at least %s", plain(*s.Minimum))
	case s.Maximum != nil:
		return fmt.Sprintf(", at most %s", plain(*s.Maximum))
	case s.MaxLength != nil:
		return fmt.Sprintf(", at most %d characters", *s.MaxLength)
	}
	return ""
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (s *server) docsHTML(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", s.docs.policy)
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(s.docs.html) // a failed write means that the client has gone
}
