package engine

import (
	"context"
	"encoding/json"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// follow renews the settings when an event tells of a version that the engine
// has not seen: another process wrote it. What cannot be read stays old until
// CatchUp reads it.
func (e *Engine) follow(ctx context.Context, ev store.Event) {
	w := e.world.Load()
	have, concerns := w.versionOf(ev)
	if !concerns {
		return
	}
	var told struct {
		Key     dengxu.KeyID `json:"key"`
		Version *uint64      `json:"version"` // 0 = deleted
	}
	if err := json.Unmarshal(ev.Data, &told); err == nil && told.Version != nil {
		if k := w.keys[told.Key]; k != nil {
			have = k.version
		}
		known := *told.Version != 0 && *told.Version <= have
		gone := *told.Version == 0 && have == 0
		if known || gone {
			return
		}
	}
	p := partitionOfSite(ev.Site, e.parts)
	if err := e.refreshPart(ctx, p); err != nil {
		e.behind[p].Store(true)
		e.log.WarnContext(ctx, "follow a change of settings", "type", ev.Type, "err", err)
	}
}

// versionOf is the version that the world has of what an event is about, 0 when
// it has none. Events about tokens concern no settings.
func (w *world) versionOf(ev store.Event) (version uint64, concerns bool) {
	switch ev.Type { //nolint:exhaustive // the others are about tokens or the clock
	case dengxu.EventSiteChanged, dengxu.EventDayStarted:
		if s := w.sites[ev.Site]; s != nil {
			version = s.version
			if ev.Type == dengxu.EventDayStarted {
				version = s.stateV
			}
		}
	case dengxu.EventQueueChanged, dengxu.EventDoorChanged:
		if q := w.queues[ev.Queue]; q != nil {
			version = q.version
			if ev.Type == dengxu.EventDoorChanged {
				version = q.stateV
			}
		}
	case dengxu.EventCounterChanged, dengxu.EventCounterState:
		if c := w.counters[ev.Counter]; c != nil {
			version = c.version
			if ev.Type == dengxu.EventCounterState {
				version = c.stateV
			}
		}
	case dengxu.EventKeyChanged: // which key is in the data
	default:
		return 0, false
	}
	return version, true
}
