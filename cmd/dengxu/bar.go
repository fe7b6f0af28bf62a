package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dengxu/dengxu/internal/replay"
)

// bar is a progress bar on a terminal, and nothing elsewhere.
type bar struct {
	w    io.Writer // nil = no terminal
	last time.Time
}

func newBar(w io.Writer) *bar {
	file, ok := w.(*os.File)
	if !ok {
		return &bar{}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &bar{}
	}
	return &bar{w: file}
}

// show draws at most ten times a second: how much is done, and a text.
func (b *bar) show(done, all int, format string, args ...any) {
	if b.w == nil || time.Since(b.last) < 100*time.Millisecond {
		return
	}
	b.last = time.Now()
	const width = 40
	full := width * done / max(1, all)
	fmt.Fprintf(b.w, "\r%s%s %3d %%  %s ", strings.Repeat("█", full), strings.Repeat("░", width-full),
		100*done/max(1, all), fmt.Sprintf(format, args...))
}

// day shows a replay.
func (b *bar) day(p replay.Progress) {
	b.show(p.Done, p.All, "%02d:%02d:%02d  %4d ms late", p.Second/3600, p.Second/60%60, p.Second%60, p.Late.Milliseconds())
}

func (b *bar) clear() {
	if b.w != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
