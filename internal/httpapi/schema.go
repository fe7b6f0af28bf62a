package httpapi

import (
	"cmp"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/dengxu/dengxu"
)

// Some types of the vocabulary have a JSON form of their own, which their Go
// fields do not tell. Their schemas stand here; the types themselves refuse
// whatever the schema lets through.
type (
	openingHoursSchema struct{}
	publicJoinSchema   struct{}
	placeSchema        struct{}
	counterQueueSchema struct{}
)

func registerSchemas(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[dengxu.OpeningHours](), reflect.TypeFor[openingHoursSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[dengxu.PublicJoin](), reflect.TypeFor[publicJoinSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[dengxu.Place](), reflect.TypeFor[placeSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[dengxu.CounterQueue](), reflect.TypeFor[counterQueueSchema]())
}

func spans() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeArray, Description: `spans such as "08:00-12:00"`,
		Items: &huma.Schema{Type: huma.TypeString},
	}
}

func words() *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}
}

// Schema describes OpeningHours.
func (openingHoursSchema) Schema(huma.Registry) *huma.Schema {
	day := spans()
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: `keys are days ("mon") or runs of days ("mon-fri")`,
		Properties: map[string]*huma.Schema{
			"dates": {
				Type: huma.TypeObject, Description: `"closed" or spans, by date`,
				AdditionalProperties: &huma.Schema{},
			},
			"last_ticket_before_seconds": {Type: huma.TypeNumber},
		},
		AdditionalProperties: day,
	}
}

// Schema describes PublicJoin.
func (publicJoinSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeBoolean, Enum: []any{false}},
		{Type: huma.TypeString, Enum: []any{"loopback"}},
		{
			Type: huma.TypeObject, AdditionalProperties: false,
			Properties: map[string]*huma.Schema{"fields": words(), "classes": words()},
		},
	}}
}

// Schema describes Place.
func (placeSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeString, Enum: []any{dengxu.PlaceOriginal, dengxu.PlaceTail}},
		{
			Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"after"},
			Properties: map[string]*huma.Schema{"after": {Type: huma.TypeInteger}},
		},
	}}
}

// Schema describes CounterQueue.
func (counterQueueSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeString},
		{
			Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"id"},
			Properties: map[string]*huma.Schema{"id": {Type: huma.TypeString}, "classes": words()},
		},
	}}
}

// forms are the fields whose value may have one of several shapes, in the words
// that a refusal needs.
var forms = map[string]string{
	"place":       `"original", "tail" or {"after": 1}`,
	"public_join": `false, "loopback" or {"fields": […], "classes": […]}`,
	"queues":      `a queue's id or {"id": "…", "classes": […]}`,
}

// verbBody is the schema of the body of all verbs.
const verbBody = "VerbRequest"

// verbFields are what the verbs take beside version, counter_id and reason; the
// engine refuses the rest.
var verbFields = map[dengxu.Verb]struct {
	schema string
	fields []string
}{
	dengxu.VerbTransfer:  {"TransferRequest", []string{"queue_id", "class", "place"}},
	dengxu.VerbReinstate: {"PlaceRequest", []string{"place"}},
	dengxu.VerbMove:      {"PlaceRequest", []string{"place"}},
	dengxu.VerbRate:      {"RateRequest", []string{"stars"}},
}

// verbSchema describes the body of one verb: its part of the body of all.
func verbSchema(r huma.Registry, verb dengxu.Verb) *huma.Schema {
	own := verbFields[verb]
	name := cmp.Or(own.schema, "PlainVerbRequest")
	if r.Map()[name] == nil {
		part := *r.Map()[verbBody]
		whole := part.Properties
		part.Properties = make(map[string]*huma.Schema)
		for _, field := range append([]string{"version", "counter_id", "reason"}, own.fields...) {
			part.Properties[field] = whole[field]
		}
		r.Map()[name] = &part
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// patch is the body of a PATCH: a merge patch by RFC 7396, passed on as it is.
type patch json.RawMessage

// UnmarshalJSON keeps the bytes.
func (p *patch) UnmarshalJSON(b []byte) error {
	*p = append((*p)[:0], b...)
	return nil
}

// Schema describes a patch: an object, whose members the settings judge.
func (patch) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true,
		Description: "merge patch (RFC 7396) of the settings: null takes a setting away",
	}
}
