package engine

import (
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{Name: "Ann"})
	b := r.join("main", dengxu.JoinRequest{})
	if a.Number != "A001" || b.Number != "A002" || *a.Rank != 0 || *b.Rank != 1 {
		t.Fatalf("numbers %s %s, ranks %d %d", a.Number, b.Number, *a.Rank, *b.Rank)
	}
	if a.Estimate.Reason != dengxu.UnknownNoCounter {
		t.Fatalf("estimate %+v before any counter opened", a.Estimate)
	}
	r.clock.Advance(time.Minute)
	got := r.mustCall("1", "A001")
	if got.State != dengxu.StateCalling || got.Name != "Ann" || got.WaitSeconds != 60 || got.CallCount != 1 {
		t.Fatalf("called %+v", got)
	}
	if left := got.CallDeadline.Sub(got.CalledAt); left != 5*time.Minute {
		t.Fatalf("deadline after %v", left)
	}
	if p, _ := r.Position(t.Context(), b.ID); *p.Rank != 0 || p.Estimate.Reason != dengxu.UnknownNoData {
		t.Fatalf("position %+v", p)
	}
	_, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{})
	wantCode(t, err, dengxu.Conflict, "counter_busy")
	r.do(dengxu.VerbStart, a.ID, dengxu.VerbRequest{})
	done, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{CompleteCurrent: true})
	if err != nil || done.Value.Token.Number != "A002" {
		t.Fatalf("complete and call: %+v %v", done, err)
	}
	r.state(a.ID, dengxu.StateCompleted)
	done, err = r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
	if err != nil || done.Value.Token != nil || done.Value.Reason != "none_waiting" {
		t.Fatalf("nobody left: %+v %v", done, err)
	}
	r.state(b.ID, dengxu.StateCompleted)
	r.clean()
}

func TestMissedComesBackThenIsAbandoned(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.pass(5 * time.Minute) // nobody comes: the deadline passes
	got := r.state(a.ID, dengxu.StateScheduled)
	if got.Misses != 1 || got.Reason != "call_timeout" {
		t.Fatalf("after the first miss %+v", got)
	}
	b := r.join("main", dengxu.JoinRequest{})
	r.pass(30 * time.Second)
	r.state(a.ID, dengxu.StateWaiting)
	r.mustCall("1", "A002") // the penalty puts A001 behind
	r.do(dengxu.VerbComplete, b.ID, dengxu.VerbRequest{})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbMiss, a.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbReinstate, a.ID, dengxu.VerbRequest{})
	r.mustCall("1", "A001")
	got = r.do(dengxu.VerbMiss, a.ID, dengxu.VerbRequest{})
	if got.State != dengxu.StateAbandoned {
		t.Fatalf("the third miss left it %s", got.State)
	}
	r.clean()
}

func TestRecallConfirmAndLimits(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{})
	r.refuse(dengxu.VerbRecall, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "state")
	r.mustCall("1", "A001")
	r.refuse(dengxu.VerbRecall, a.ID, dengxu.VerbRequest{}, dengxu.TooMany, "too_early")
	r.clock.Advance(30 * time.Second)
	if got := r.do(dengxu.VerbRecall, a.ID, dengxu.VerbRequest{}); got.CallCount != 2 || got.WaitSeconds != 0 {
		t.Fatalf("a recall %+v must not touch the wait", got)
	}
	r.do(dengxu.VerbConfirm, a.ID, dengxu.VerbRequest{})
	r.refuse(dengxu.VerbConfirm, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "confirmed_already")
	r.clock.Advance(30 * time.Second)
	r.do(dengxu.VerbRecall, a.ID, dengxu.VerbRequest{})
	r.clock.Advance(30 * time.Second)
	r.refuse(dengxu.VerbRecall, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "max_calls")
	r.refuse(dengxu.VerbStart, a.ID, dengxu.VerbRequest{Version: 1}, dengxu.Conflict, "stale_version")
	r.refuse(dengxu.VerbStart, a.ID, dengxu.VerbRequest{CounterID: "9"}, dengxu.Conflict, "other_counter")
	r.refuse(dengxu.VerbStart, a.ID, dengxu.VerbRequest{Stars: 3}, dengxu.Invalid, "")
}

func TestHoldKeepsAndResumeNeedsRoom(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{})
	b := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbStart, a.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbHold, a.ID, dengxu.VerbRequest{})
	r.mustCall("1", "A002") // a held token does not fill the counter
	r.pass(3 * time.Hour)
	r.pass(30 * time.Second)
	r.state(a.ID, dengxu.StateHeld)
	r.state(b.ID, dengxu.StateWaiting) // its call timed out long ago, and it waits again
	r.mustCall("1", "A002")
	r.refuse(dengxu.VerbResume, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "no_room")
	r.do(dengxu.VerbComplete, b.ID, dengxu.VerbRequest{})
	if got := r.do(dengxu.VerbResume, a.ID, dengxu.VerbRequest{}); got.CounterID != "1" || got.State != dengxu.StateServing {
		t.Fatalf("resumed %+v", got)
	}
	r.clean()
}

func TestUndo(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{BusinessID: "p"})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbStart, a.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	other := staffer
	other.Name = "key:other"
	_, err := r.Act(t.Context(), other, dengxu.VerbUndo, a.ID, dengxu.VerbRequest{})
	wantCode(t, err, dengxu.Conflict, "other_actor")
	if got := r.do(dengxu.VerbUndo, a.ID, dengxu.VerbRequest{}); got.State != dengxu.StateServing || got.CounterID != "1" {
		t.Fatalf("undone %+v", got)
	}
	r.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	r.join("main", dengxu.JoinRequest{BusinessID: "p"})
	r.refuse(dengxu.VerbUndo, a.ID, dengxu.VerbRequest{}, dengxu.Exists, "already_in_line")
	b := r.join("main", dengxu.JoinRequest{})
	r.do(dengxu.VerbCancel, b.ID, dengxu.VerbRequest{})
	r.clock.Advance(time.Minute)
	r.refuse(dengxu.VerbUndo, b.ID, dengxu.VerbRequest{}, dengxu.Conflict, "undo_too_late")
	r.clean()
}

func TestUndoAtACounterThatIsGone(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	if err := r.DeleteCounter(t.Context(), staffer, "1", 0); err != nil {
		t.Fatal(err)
	}
	r.refuse(dengxu.VerbUndo, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "state")
}

// TestUndoIntoAnotherOrdering: the queue was empty while its ordering changed,
// and what an undo brings back stands in a lane of the new one.
func TestUndoIntoAnotherOrdering(t *testing.T) {
	t.Parallel()
	r := hall(t)
	a := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	r.queue("main", `{"site":"hall","ordering":"strict","groups":{"red":{}}}`)
	r.do(dengxu.VerbUndo, a.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbRequeue, a.ID, dengxu.VerbRequest{})
	red := r.join("main", dengxu.JoinRequest{PriorityGroup: "red"})
	if p, _ := r.Position(t.Context(), a.ID); *p.Rank != 1 {
		t.Fatalf("rank %d, want behind %s", *p.Rank, red.Number)
	}
	r.mustCall("1", "A002")
	r.clean()
}

func TestTransferKeepsNumberAndPlace(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("card", `{"site":"hall","prefix":"C"}`)
	r.counter("2", `{"site":"hall","queues":["card"]}`)
	a := r.join("main", dengxu.JoinRequest{})
	r.clock.Advance(time.Minute)
	r.join("card", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	got := r.do(dengxu.VerbTransfer, a.ID, dengxu.VerbRequest{QueueID: "card"})
	if got.Number != "A001" || got.QueueID != "card" || !got.JoinedAt.Equal(a.JoinedAt) {
		t.Fatalf("transferred %+v", got)
	}
	r.mustCall("2", "A001") // joined earlier than C001
	_, err := r.Act(t.Context(), staffer, dengxu.VerbTransfer, a.ID, dengxu.VerbRequest{QueueID: "card"})
	wantInvalid(t, err, "queue_id") // it is there already
	r.do(dengxu.VerbTransfer, a.ID, dengxu.VerbRequest{QueueID: "card", CounterID: "2", Place: &dengxu.Place{At: dengxu.PlaceTail}})
	r.mustCall("2", "C001")
	if _, err := r.SetDoor(t.Context(), staffer, "main", "close", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	r.refuse(dengxu.VerbTransfer, a.ID, dengxu.VerbRequest{QueueID: "main"}, dengxu.Closed, "closed")
	r.refuse(dengxu.VerbUndo, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "no_room") // the counter has C001 now
	r.do(dengxu.VerbTransfer, a.ID, dengxu.VerbRequest{QueueID: "card"})              // for any counter again
	r.clean()
}

func TestIdempotentCommands(t *testing.T) {
	t.Parallel()
	r := hall(t)
	by := staffer
	by.Key, by.Hash = "k1", [16]byte{1}
	one, err := r.Join(t.Context(), by, "main", dengxu.JoinRequest{})
	if err != nil || one.Replayed {
		t.Fatal(one, err)
	}
	two, err := r.Join(t.Context(), by, "main", dengxu.JoinRequest{})
	if err != nil || !two.Replayed || two.Value.ID != one.Value.ID || *two.Value.Rank != 0 {
		t.Fatalf("repeat: %+v %v", two, err)
	}
	by.Hash = [16]byte{2}
	_, err = r.Join(t.Context(), by, "main", dengxu.JoinRequest{})
	wantCode(t, err, dengxu.Invalid, "idempotency_key_reused")
	b := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	by.Key = "k2"
	first, err := r.CallNext(t.Context(), by, "1", "", dengxu.CallRequest{CompleteCurrent: true, Version: 2})
	if err != nil || first.Value.Token.ID != b.ID {
		t.Fatalf("call: %+v %v", first, err)
	}
	again, err := r.CallNext(t.Context(), by, "1", "", dengxu.CallRequest{CompleteCurrent: true, Version: 2})
	if err != nil || !again.Replayed || again.Value.Token.ID != b.ID {
		t.Fatalf("repeat: %+v %v", again, err)
	}
	by.Key = "k3"
	for i := range 2 {
		done, err := r.Act(t.Context(), by, dengxu.VerbComplete, b.ID, dengxu.VerbRequest{Version: 2})
		if err != nil || done.Replayed != (i == 1) || done.Value.State != dengxu.StateCompleted {
			t.Fatalf("complete %d: %+v %v", i, done, err)
		}
	}
	r.clean()
}

// With on_call_timeout ask, no timer ends a call: not the first, nor one that
// was recalled, confirmed or put back by an undo.
func TestAskLeavesTheCallToTheOperator(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("ask", `{"site":"hall","prefix":"Q","on_call_timeout":"ask","call_timeout_seconds":60}`)
	r.counter("2", `{"site":"hall","queues":["ask"]}`)
	a := r.join("ask", dengxu.JoinRequest{})
	r.mustCall("2", "Q001")
	for _, verb := range []dengxu.Verb{"", dengxu.VerbRecall, dengxu.VerbConfirm, dengxu.VerbMiss, dengxu.VerbUndo} {
		if verb != "" {
			r.do(verb, a.ID, dengxu.VerbRequest{})
		}
		if verb == dengxu.VerbMiss {
			continue // taken back by the undo
		}
		r.pass(time.Hour)
		r.state(a.ID, dengxu.StateCalling)
	}
}

func TestRankOfATokenForOneCounter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","classes":{"x":{},"y":{}}}`)
	r.counter("1", `{"site":"hall","queues":[{"id":"main","classes":["x"]}]}`)
	r.counter("2", `{"site":"hall","queues":["main"]}`)
	r.join("main", dengxu.JoinRequest{Class: "x"})
	r.join("main", dengxu.JoinRequest{Class: "y"})
	c := r.join("main", dengxu.JoinRequest{Class: "y"})
	r.do(dengxu.VerbTransfer, c.ID, dengxu.VerbRequest{QueueID: "main", CounterID: "1"})
	got, err := r.Position(t.Context(), c.ID)
	if err != nil || *got.Rank != 1 {
		t.Fatalf("rank %d, %v; its counter calls the one of class x before it, and no other", *got.Rank, err)
	}
	a := r.mustCall("1", "A001")
	r.do(dengxu.VerbCancel, a.ID, dengxu.VerbRequest{})
	r.mustCall("1", "A003")
}

func TestAnEditChangesSomethingOrIsRefused(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("strict", `{"site":"hall","prefix":"S","fields":[{"name":"phone","type":"phone","required":true}]}`)
	a := r.join("strict", dengxu.JoinRequest{Phone: "+44 1234"})
	for _, bad := range []dengxu.TokenEdit{{}, {Phone: new("")}, {Phone: new("call me")}} {
		_, err := r.Edit(t.Context(), staffer, a.ID, bad)
		if dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("edit %+v: %v", bad, err)
		}
	}
	if got := r.state(a.ID, dengxu.StateWaiting); got.Version != 1 {
		t.Fatalf("refused edits left version %d", got.Version)
	}
	if _, err := r.Edit(t.Context(), staffer, a.ID, dengxu.TokenEdit{Phone: new("5678"), Name: new("Ann")}); err != nil {
		t.Fatal(err)
	}
}
