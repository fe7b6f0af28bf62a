package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/dengxu/dengxu"
)

// Export writes a site as a file that Apply reads.
type Export struct {
	Site ExportSite `cmd:"" help:"Write a site with its queues and counters as YAML."`
}

// ExportSite writes one site.
type ExportSite struct {
	ID dengxu.SiteID `arg:"" help:"The site's id."`
}

// Run prints the file. Settings that have their default are left out; applying
// the file to the site that it came from changes nothing.
func (x *ExportSite) Run(ctx context.Context, e *Env) error {
	now, err := readState(ctx, e.Client, x.ID)
	if err != nil {
		return err
	}
	if now.site == nil {
		return dengxu.Fieldf(dengxu.NotFound, "site", "there is no site %s", x.ID)
	}
	text, err := exportText(now)
	if err != nil {
		return err
	}
	_, err = e.Out.Write(text)
	return err
}

// exportText is the file of a state.
func exportText(now state) ([]byte, error) {
	file := yaml.MapSlice{{Key: "site", Value: string(now.site.ID)}}
	site, err := unlike(now.site.Site.WithDefaults(), dengxu.Site{}.WithDefaults())
	if err != nil {
		return nil, err
	}
	file = append(file, site...)
	var queues, counters yaml.MapSlice
	for _, v := range now.queues {
		q := v.Queue.WithDefaults()
		// What follows from the prefix and the kind is a default too.
		like := dengxu.Queue{Kind: q.Kind, Prefix: q.Prefix}.WithDefaults()
		like.Prefix = dengxu.Queue{}.WithDefaults().Prefix
		like.Kind = dengxu.KindPeople
		likeOrder(&like, q)
		q.Site, like.Site = "", ""
		set, err := unlike(q, like)
		if err != nil {
			return nil, err
		}
		queues = append(queues, yaml.MapItem{Key: string(v.ID), Value: set})
	}
	for _, v := range now.counters {
		c, like := v.Counter.WithDefaults(), dengxu.Counter{}.WithDefaults()
		c.Site, like.Site = "", ""
		set, err := unlike(c, like)
		if err != nil {
			return nil, err
		}
		counters = append(counters, yaml.MapItem{Key: string(v.ID), Value: set})
	}
	if len(queues) > 0 {
		file = append(file, yaml.MapItem{Key: "queues", Value: queues})
	}
	if len(counters) > 0 {
		file = append(file, yaml.MapItem{Key: "counters", Value: counters})
	}
	return yaml.MarshalWithOptions(file, yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
}

// likeOrder gives like what the ordering of q fills in: ordinary's rank would
// otherwise be written down and no longer be the last.
func likeOrder(like *dengxu.Queue, q dengxu.Queue) {
	others := maps.Clone(q.Groups)
	delete(others, dengxu.GroupOrdinary)
	filled := dengxu.Queue{Ordering: q.Ordering, Groups: others}.WithDefaults()
	like.EscalateAfterSeconds = filled.EscalateAfterSeconds
	like.Groups = map[string]dengxu.Group{dengxu.GroupOrdinary: filled.Groups[dengxu.GroupOrdinary]}
}

// unlike is set as an ordered mapping without what it has in common with like.
func unlike(set, like any) (yaml.MapSlice, error) {
	a, err := ordered(set)
	if err != nil {
		return nil, err
	}
	b, err := ordered(like)
	if err != nil {
		return nil, err
	}
	return without(a, b), nil
}

// ordered is v as JSON has it, in the order of its fields.
func ordered(v any) (yaml.MapSlice, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	var m yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &m, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("order settings: %w", err)
	}
	return m, nil
}

// without drops the items that common has alike, inside mappings too.
func without(m, common yaml.MapSlice) yaml.MapSlice {
	kept := yaml.MapSlice{}
	for _, item := range m {
		i := slices.IndexFunc(common, func(c yaml.MapItem) bool { return c.Key == item.Key })
		if i < 0 {
			kept = append(kept, item)
			continue
		}
		mine, okMine := item.Value.(yaml.MapSlice)
		theirs, okTheirs := common[i].Value.(yaml.MapSlice)
		switch {
		case reflect.DeepEqual(item.Value, common[i].Value):
		case okMine && okTheirs:
			kept = append(kept, yaml.MapItem{Key: item.Key, Value: without(mine, theirs)})
		default:
			kept = append(kept, item)
		}
	}
	return kept
}
