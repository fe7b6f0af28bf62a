package storetest

import (
	"fmt"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// The lines of groups, for the examples of strict and ratio.

// grouped puts a token into the lane of a group.
func grouped(group string) func(*store.Token) {
	return func(t *store.Token) { t.Group, t.Lane = group, order.Lane{Class: t.Class, Group: group} }
}

// classed puts a grouped token into a class.
func classed(class string) func(*store.Token) {
	return func(t *store.Token) { t.Class, t.Lane.Class = class, class }
}

// ordered is a pick of n from a line with an ordering.
func ordered(o store.Ordering, n int) store.Batch {
	b := calling(n)
	b.Pick.Lines[0].Ordering = o
	return b
}

// joinGroups joins n of each group, one of each in turn, a second apart.
func (k *kit) joinGroups(n int, groups ...string) {
	k.t.Helper()
	for i := range n {
		for _, group := range groups {
			k.join(dengxu.TokenID(fmt.Sprintf("%s-%02d", group, i)), grouped(group))
			k.pass(time.Second)
		}
	}
}

// groupsOf are the groups of tokens in their order, each by its first letter.
func groupsOf(tokens []store.Token) string {
	var letters []byte
	for _, t := range tokens {
		letters = append(letters, t.Lane.Group[0])
	}
	return string(letters)
}

// calls calls one after another and tells their groups.
func (k *kit) calls(o store.Ordering, n int) string {
	k.t.Helper()
	var all []store.Token
	for range n {
		all = append(all, k.commit(ordered(o, 1)).Tokens...)
	}
	return groupsOf(all)
}
