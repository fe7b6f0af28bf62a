package ctl

import (
	"encoding/json"
	"maps"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// siteFile is a site with its queues and counters as a file describes it, in
// the order of the file.
type siteFile struct {
	id       dengxu.SiteID
	site     dengxu.Site
	queues   []fileQueue
	counters []fileCounter
}

type fileQueue struct {
	id  dengxu.QueueID
	set dengxu.Queue
}

type fileCounter struct {
	id  dengxu.CounterID
	set dengxu.Counter
	at  *strictyaml.Node
}

// fileShape is what a file may say.
type fileShape struct {
	ID dengxu.SiteID `json:"site"`
	dengxu.Site
	Defaults struct {
		Queue dengxu.Queue `json:"queue"` // reaches queues of people only
	} `json:"defaults"`
	Queues   map[dengxu.QueueID]dengxu.Queue     `json:"queues"`
	Counters map[dengxu.CounterID]dengxu.Counter `json:"counters"`
}

// readFile reads a site's file. Every error is a *strictyaml.Error.
func readFile(text []byte) (*siteFile, error) {
	root, err := strictyaml.Parse(text)
	if err != nil {
		return nil, err
	}
	var shape fileShape
	if err := root.Decode(&shape); err != nil {
		return nil, err
	}
	if root.Get("site") == nil {
		return nil, root.Errorf("site is missing: the id of the site")
	}
	if err := dengxu.CheckID("site", string(shape.ID)); err != nil {
		return nil, root.Get("site").Errorf("%v", err)
	}
	f := &siteFile{id: shape.ID, site: shape.Site}
	defaults := root.Get("defaults").Get("queue")
	if err := noSite(defaults); err != nil {
		return nil, err
	}
	for _, e := range entries(root.Get("queues")) {
		q, err := readQueue(shape.ID, e, defaults)
		if err != nil {
			return nil, err
		}
		f.queues = append(f.queues, q)
	}
	for _, e := range entries(root.Get("counters")) {
		if err := checkEntry("counter", e); err != nil {
			return nil, err
		}
		set := shape.Counters[dengxu.CounterID(e.Key)]
		set.Site = shape.ID
		f.counters = append(f.counters, fileCounter{dengxu.CounterID(e.Key), set, e.Value})
	}
	return f, nil
}

// readQueue merges a queue over the file's defaults.
func readQueue(site dengxu.SiteID, e strictyaml.Entry, defaults *strictyaml.Node) (fileQueue, error) {
	q := fileQueue{id: dengxu.QueueID(e.Key)}
	if err := checkEntry("queue", e); err != nil {
		return q, err
	}
	merged, _ := e.Value.Value().(map[string]any)
	if kind, _ := merged["kind"].(string); defaults != nil && kind != string(dengxu.KindTask) {
		base, _ := defaults.Value().(map[string]any)
		merged = overlay(base, merged)
	}
	text, err := json.Marshal(merged)
	if err == nil {
		err = json.Unmarshal(text, &q.set)
	}
	if err != nil { // both parts were checked, so only their sum is at fault
		return q, e.Value.Errorf("with the defaults: %v", err)
	}
	q.set.Site = site
	return q, nil
}

func entries(n *strictyaml.Node) []strictyaml.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

func checkEntry(kind string, e strictyaml.Entry) error {
	if err := dengxu.CheckID(kind, e.Key); err != nil {
		return &strictyaml.Error{Line: e.Line, Column: e.Column, Message: err.Error()}
	}
	return noSite(e.Value)
}

// noSite refuses a site inside the site's own file.
func noSite(n *strictyaml.Node) error {
	for _, e := range entries(n) {
		if e.Key == "site" {
			return &strictyaml.Error{Line: e.Line, Column: e.Column, Message: "site stands once, at the top of the file"}
		}
	}
	return nil
}

// overlay puts over on base, mapping by mapping.
func overlay(base, over map[string]any) map[string]any {
	sum := maps.Clone(base)
	if sum == nil {
		sum = make(map[string]any, len(over))
	}
	for key, value := range over {
		inner, isMap := value.(map[string]any)
		below, hadMap := sum[key].(map[string]any)
		if isMap && hadMap {
			value = overlay(below, inner)
		}
		sum[key] = value
	}
	return sum
}
