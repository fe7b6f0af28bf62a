package sim

// ranked is what a heap can hold.
type ranked[E any] interface{ before(other E) bool }

// Who is in heaps.
var (
	_ ranked[task] = task{}
	_ ranked[due]  = due{}
	_ ranked[head] = head{}
)

// heap is a binary heap: the entry before all others is at 0. container/heap would
// box each entry, on the path of every event.
type heap[E ranked[E]] []E

func (h *heap[E]) push(e E) {
	all := append(*h, e)
	for i := len(all) - 1; i > 0; {
		up := (i - 1) / 2
		if !all[i].before(all[up]) {
			break
		}
		all[i], all[up] = all[up], all[i]
		i = up
	}
	*h = all
}

// pop takes out the first entry; there must be one.
func (h *heap[E]) pop() {
	last := len(*h) - 1
	all := (*h)[:last]
	if last > 0 {
		all[0] = (*h)[last]
	}
	*h = all
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return
		}
		if right := down + 1; right < last && all[right].before(all[down]) {
			down = right
		}
		if !all[down].before(all[i]) {
			return
		}
		all[i], all[down] = all[down], all[i]
		i = down
	}
}
