// Package redistest runs real Redis servers for tests: one server, a master
// with replicas and sentinels, a cluster, each on free ports and in a folder
// of its own; a proxy that loses what passes through it; and hosts whose
// network can be cut.
//
// It owns the processes, which end with their test, and with the test binary
// even where that is killed. It refuses to use a server that it did not start,
// to skip where redis-server is missing, and to know the client that the
// product uses: what it reads, it reads over a connection of its own.
package redistest

import "os"

// torture reports whether the environment asks for all there is
// (DENGXU_TORTURE=1), so that nothing may be left out.
func torture() bool { return os.Getenv("DENGXU_TORTURE") == "1" }
