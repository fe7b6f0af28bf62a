package feed

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// selects says, by partition, whether its log may have what a filter selects.
func (f *Feed) selects(filter *Filter) []bool {
	in := make([]bool, len(f.tails)) // its length never changes
	sites := filter.Sites
	if filter.Site != "" {
		sites = []dengxu.SiteID{filter.Site}
	}
	for p := range in {
		in[p] = len(sites) == 0 || f.o.PartitionOf == nil
	}
	if f.o.PartitionOf != nil {
		for _, site := range sites {
			in[f.o.PartitionOf(site)] = true
		}
	}
	return in
}

// Attend says that somebody listens to the events of a site, whose log is
// therefore read more often where hints may be lost. stop ends it; it is
// called once.
func (f *Feed) Attend(site dengxu.SiteID) (stop func()) {
	in := f.selects(&Filter{Site: site})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listen(in, 1)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.listen(in, -1)
	}
}

// listen counts one more or one less who listens to some logs. The caller holds
// mu.
func (f *Feed) listen(in []bool, n int) {
	for p, some := range in {
		if !some {
			continue
		}
		f.heard[p] += n
		if n > 0 && f.heard[p] == 1 && f.shared {
			select {
			case f.poke[p] <- struct{}{}:
			default: // it is going to look already
			}
		}
	}
}

func (f *Feed) isHeard(p store.Partition) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard[p] > 0
}
