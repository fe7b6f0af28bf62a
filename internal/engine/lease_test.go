package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestLeasesAreShared lets processes come, renew, stop, die and be late in any
// order: nothing is ever taken from somebody alive who did not give it, and
// when it is quiet, everything has an owner and nobody has more than a share.
func TestLeasesAreShared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]int{1, 4, 7, 64}).Draw(t, "partitions")
		var l leases
		now := int64(1_000_000)
		process := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now += rapid.Int64Range(0, 1500).Draw(t, "ms")
			who := process.Draw(t, "process")
			before := l
			if rapid.IntRange(0, 9).Draw(t, "what") == 0 {
				l = l.without(who, now, parts)
				if l.Until[who] != 0 {
					t.Fatalf("%s ended and is still there", who)
				}
			} else {
				l = l.renewed(who, now, parts)
				if left := l.Until[who] - now; left <= leaseRenew || left > leaseFor {
					t.Fatalf("%s renewed for %d ms", who, left)
				}
			}
			for p, owner := range l.Owners {
				if len(before.Owners) == 0 {
					break
				}
				was := before.Owners[p]
				if was != owner && was != who && was != "" && before.Until[was] > now {
					t.Fatalf("%s gave partition %d of %s, who is alive, to %s", who, p, was, owner)
				}
				if owner != "" && l.Until[owner] <= now {
					t.Fatalf("partition %d has the owner %q, whose leases are over", p, owner)
				}
			}
		}
		alive := rapid.SliceOfNDistinct(process, 1, 5, rapid.ID[string]).Draw(t, "alive")
		for range 6 { // seconds, in which everybody else's leases end
			now += 1000
			for _, who := range alive {
				l = l.renewed(who, now, parts)
			}
		}
		n := make(map[string]int)
		for p, owner := range l.Owners {
			if l.Until[owner] <= now {
				t.Fatalf("partition %d has no owner", p)
			}
			n[owner]++
		}
		for who, has := range n {
			if share := (parts + len(alive) - 1) / len(alive); has > share {
				t.Fatalf("%s has %d of %d partitions, a share is %d: %v", who, has, parts, share, n)
			}
		}
	})
}

// TestALeaseIsTakenOverInTime: a process that dies is replaced in all its
// partitions within five seconds, at the worst moment.
func TestALeaseIsTakenOverInTime(t *testing.T) {
	t.Parallel()
	const parts = 4
	for died := range int64(10) {
		t.Run(fmt.Sprint(died), func(t *testing.T) {
			t.Parallel()
			var l leases
			now, last := int64(0), int64(0)
			for ; now < 20_000; now += 100 {
				if now%1000 == 0 && now <= 7000+died*100 {
					l = l.renewed("dies", now, parts)
					last = now
				}
				if now%1000 == 500 {
					l = l.renewed("lives", now, parts)
				}
				has := 0
				for _, owner := range l.Owners {
					if owner == "lives" {
						has++
					}
				}
				if now > 3000 && now <= last && has != parts/2 {
					t.Fatalf("at %d the other has %d", now, has)
				}
				if now > last+5000 && has != parts {
					t.Fatalf("%d ms after the death it has %d of %d", now-last, has, parts)
				}
			}
		})
	}
}
