package redisstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dengxu/dengxu/internal/store"
)

// checking is the judgement of one master.
type checking struct {
	report     *Report
	replicated bool
	master
}

// leastVersion is the major version of Redis that scripts are written for:
// flags of scripts, and effects that are replicated.
const leastVersion = 7

func (c *checking) check() {
	c.version()
	c.memory()
	c.persistence()
	c.rewriting()
	c.replicas()
	c.cluster()
	if slow := c.setting("busy-reply-threshold"); slow != "" && slow != "5000" {
		c.say(LevelOK, "busy-reply-threshold is "+slow+" ms", "", "")
	}
	if c.config == nil {
		c.say(LevelWarn, "CONFIG GET is forbidden", "how often the log reaches the disk is not known, so the class is the lowest", "allow CONFIG GET to the user of dengxu")
	}
}

func (c *checking) say(level Level, what, why, change string) {
	c.report.Remarks = append(c.report.Remarks, Remark{Level: level, Server: c.addr, What: what, Why: why, Change: change})
}

// setting is a setting, or "" when it is not known.
func (c *checking) setting(name string) string { return c.config[name] }

// atMost lowers the class of the report.
func (c *checking) atMost(d store.Durability) {
	order := []store.Durability{store.D0Memory, store.D1Interval, store.D2Commit, store.D3Replica}
	if slices.Index(order, d) < slices.Index(order, c.report.Durability) {
		c.report.Durability = d
	}
}

func (c *checking) version() {
	version := c.info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastVersion {
		c.say(LevelRefuse, "version "+version, "scripts need Redis 7.0", "upgrade Redis")
		return
	}
	c.say(LevelOK, "version "+version, "", "")
}

func (c *checking) memory() {
	policy := c.info["maxmemory_policy"]
	switch {
	case policy == "":
		c.say(LevelWarn, "maxmemory-policy is not told", "were it to evict, numbers would repeat without any error", "make sure that it is noeviction")
	case policy != "noeviction":
		c.say(LevelRefuse, "maxmemory-policy is "+policy, "people and numbers would vanish without any error when the memory is full", "set maxmemory-policy noeviction")
	default:
		c.say(LevelOK, "maxmemory-policy is noeviction", "", "")
	}
	used, most := c.number("used_memory"), c.number("maxmemory")
	if most > 0 && used*10 > most*8 {
		c.say(LevelWarn, fmt.Sprintf("memory is used to %d %%", used*100/most), "joins are refused when it is full", "raise maxmemory, or shorten how long tokens are kept")
	}
}

// persistence finds what a crash of the server costs.
func (c *checking) persistence() {
	if c.number("aof_enabled") == 0 {
		c.atMost(store.D0Memory)
		why := "a crash loses everything"
		if save := c.setting("save"); save != "" {
			why = "a crash loses what was done since the last snapshot (save " + save + ")"
		}
		c.say(LevelWarn, "appendonly is off", why, "set appendonly yes and appendfsync always")
		return
	}
	switch fsync := c.setting("appendfsync"); fsync {
	case "always":
		c.say(LevelOK, "appendonly is on, appendfsync is always", "", "")
	case "everysec":
		c.atMost(store.D1Interval)
		c.say(LevelWarn, "appendfsync is everysec", "a crash loses up to two seconds of what was acknowledged, also after kill -9", "set appendfsync always; under load it costs little, for commits are grouped")
	case "":
		c.atMost(store.D0Memory)
	default:
		c.atMost(store.D0Memory)
		c.say(LevelWarn, "appendfsync is "+fsync, "a power loss costs what the kernel has not written, up to half a minute", "set appendfsync always")
	}
	if c.setting("no-appendfsync-on-rewrite") == "yes" {
		c.atMost(store.D0Memory)
		c.say(LevelWarn, "no-appendfsync-on-rewrite is yes", "while the log is rewritten or a snapshot made, nothing is synced", "set no-appendfsync-on-rewrite no")
	}
	if c.setting("aof-load-truncated") == "yes" {
		c.say(LevelOK, "aof-load-truncated is yes: a torn end of the log is cut off at a start, which only Redis's own log tells; dengxu finds it while one of its processes lives", "", "")
	}
	if c.info["aof_last_write_status"] == "err" {
		c.atMost(store.D0Memory)
		c.say(LevelWarn, "the last write of the log failed", "Redis refuses commits until it can write", "look at the disk of the server")
	}
}

// bigLog is from which size on a log that is never rewritten is remarkable.
const bigLog = 1 << 30

func (c *checking) rewriting() {
	size, base := c.number("aof_current_size"), c.number("aof_base_size")
	if c.number("aof_enabled") == 0 {
		return
	}
	percent := c.setting("auto-aof-rewrite-percentage")
	what := fmt.Sprintf("the log has %d MB, %d MB after its last rewrite; it is rewritten at +%s %% above %s bytes",
		size>>20, base>>20, percent, c.setting("auto-aof-rewrite-min-size"))
	switch {
	case percent == "0":
		c.say(LevelWarn, what, "it is never rewritten, and a start reads all of it", "set auto-aof-rewrite-percentage 100")
	case size > bigLog && size > 4*base:
		c.say(LevelWarn, what, "a start reads all of it", "lower auto-aof-rewrite-percentage, or see why rewrites fail")
	default:
		c.say(LevelOK, what, "", "")
	}
	if c.info["aof_last_bgrewrite_status"] == "err" {
		c.say(LevelWarn, "the last rewrite of the log failed", "it grows without end", "look at memory and disk of the server")
	}
}

// noReplica is what is said of a master without one.
const noReplica = "no replica is connected"

func (c *checking) replicas() {
	n := c.number("connected_slaves")
	c.report.Replicas += int(n)
	switch {
	case n == 0 && c.replicated:
		c.atMost(store.D2Commit)
		c.say(LevelWarn, noReplica, "with --durability replicated no commit can be acknowledged", "connect a replica, or run without")
	case n == 0:
		c.say(LevelWarn, noReplica, "the loss of the machine is the loss of the store", "connect a replica, watched by Sentinel or in the cluster")
	default:
		c.say(LevelOK, fmt.Sprintf("replicas: %d", n), "", "")
	}
	if n > 0 && !c.replicated && c.setting("min-replicas-to-write") == "0" {
		c.say(LevelWarn, "min-replicas-to-write is 0", "a master that is cut off goes on acknowledging what will be lost", "set min-replicas-to-write 1 and min-replicas-max-lag 3, or run with --durability replicated")
	}
}

func (c *checking) cluster() {
	if c.number("cluster_enabled") == 1 && c.setting("cluster-require-full-coverage") == "yes" {
		c.say(LevelWarn, "cluster-require-full-coverage is yes", "when one shard is down, the queues of all others stop too", "set cluster-require-full-coverage no")
	}
}
