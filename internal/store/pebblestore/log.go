package pebblestore

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// pebbleLog takes what pebble says: its chatter at debug level, and its cry
// that it cannot go on as the failure of the store.
type pebbleLog struct{ s *Store }

// Infof logs at debug level.
func (l pebbleLog) Infof(format string, args ...any) {
	l.s.opts.Logger.Debug("pebble", "text", fmt.Sprintf(format, args...))
}

// Errorf logs an error.
func (l pebbleLog) Errorf(format string, args ...any) {
	l.s.opts.Logger.Error("pebble", "text", fmt.Sprintf(format, args...))
}

// Fatalf ends the store. pebble expects not to get the control back; the
// panic is for stores whose Fatal does not end the process.
func (l pebbleLog) Fatalf(format string, args ...any) {
	err := fmt.Errorf("pebble: "+format, args...)
	l.s.fail(err)
	panic(err)
}

func (l pebbleLog) listener() *pebble.EventListener {
	log := l.s.opts.Logger
	return &pebble.EventListener{
		// Without flushes, writes would soon wait for ever.
		FlushEnd: func(i pebble.FlushInfo) {
			if i.Err != nil && isOurFault(i.Err) {
				l.s.fail(fmt.Errorf("flush: %w", i.Err))
			}
		},
		BackgroundError: func(err error) { log.Error("pebble could not write in the background", "error", err) },
		DataCorruption:  func(i pebble.DataCorruptionInfo) { log.Error("the database is damaged", "details", i.Details) },
		DiskSlow:        func(i pebble.DiskSlowInfo) { log.Warn("the disk is slow", "text", i.String()) },
		WriteStallBegin: func(i pebble.WriteStallBeginInfo) { log.Warn("writes wait for the disk", "reason", i.Reason) },
		WriteStallEnd:   func() { log.Info("writes go on") },
	}
}
