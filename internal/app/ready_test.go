package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// half is a store of two partitions, each of which can be made silent.
type half struct {
	store.Store
	mu     sync.Mutex // guards silent
	silent map[store.Partition]bool
}

func (h *half) hush(silent ...store.Partition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = make(map[store.Partition]bool)
	for _, p := range silent {
		h.silent[p] = true
	}
}

func (h *half) View(ctx context.Context, a store.Ask) (store.View, error) {
	h.mu.Lock()
	silent := h.silent[a.Partition]
	h.mu.Unlock()
	if silent {
		<-ctx.Done()
		return store.View{}, errors.Join(store.ErrUnavailable, ctx.Err())
	}
	return h.Store.View(ctx, a)
}

// TestReadyWhileAnyPartitionAnswers: readiness is soon, and of a silent store
// the answer still tells kind and durability.
func TestReadyWhileAnyPartitionAnswers(t *testing.T) {
	t.Parallel()
	s := &half{Store: memstore.New(memstore.Options{Partitions: 2})}
	var told bytes.Buffer // what serve shows unless it is told to show more
	a := start(t, Options{
		Store: s, Bare: true, AdminKey: testKey,
		Logger: slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	defer func() {
		s.hush()
		stop(t, a)
		for _, line := range []string{"the store does not answer", "the store answers again"} {
			if n := strings.Count(told.String(), line+`"`); n != 1 {
				t.Errorf("%q is told %d times:\n%s", line, n, told.String())
			}
		}
	}()
	for _, row := range []struct {
		silent []store.Partition
		status int
	}{
		{nil, 200}, {[]store.Partition{0}, 200}, {[]store.Partition{1}, 200}, {[]store.Partition{0, 1}, 503}, {nil, 200},
	} {
		s.hush(row.silent...)
		began := time.Now()
		status, body := ask(t, "GET", a.URL()+"/readyz", "", "")
		if status != row.status || time.Since(began) > 3*time.Second {
			t.Errorf("silent %v: %d after %v: %s", row.silent, status, time.Since(began), body)
		}
		var got struct{ Code, Reason, Store, Durability, DurabilityText string }
		if err := json.Unmarshal([]byte(strings.ReplaceAll(body, "durability_text", "DurabilityText")), &got); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		if got.Store != "memory" || got.Durability != "D0" || strings.Contains(got.DurabilityText, "not known") != (status == 503) {
			t.Errorf("silent %v: %s", row.silent, body)
		}
		if status == 503 && (got.Code != "unavailable" || got.Reason != "store") {
			t.Errorf("silent %v: %s", row.silent, body)
		}
	}
}
