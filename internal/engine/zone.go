package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// machineZone is the IANA name of the machine's time zone, for sites that name
// none; UTC when the machine does not tell.
var machineZone = sync.OnceValue(func() string {
	candidates := []string{os.Getenv("TZ"), time.Local.String()}
	if link, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(link, "zoneinfo/"); ok {
			candidates = append(candidates, name)
		}
	}
	if text, err := os.ReadFile("/etc/timezone"); err == nil {
		candidates = append(candidates, strings.TrimSpace(string(text)))
	}
	for _, name := range candidates {
		if _, err := loadZone(strings.TrimPrefix(name, ":")); err == nil {
			return strings.TrimPrefix(name, ":")
		}
	}
	return "UTC"
})

// isUTC reports whether a zone's name is one of those of UTC.
func isUTC(name string) bool {
	return slices.Contains([]string{
		"UTC", "UCT", "Zulu", "Universal", "GMT", "Greenwich", "Etc/UTC", "Etc/UCT", "Etc/Zulu",
		"Etc/Universal", "Etc/GMT", "Etc/Greenwich",
	}, name)
}
