package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The environment of this program when it is the service before the table.
const (
	tableDSN  = "BENCH_TABLE_DSN"
	tableAddr = "BENCH_TABLE_ADDR"
)

func isTable() bool { return os.Getenv(tableDSN) != "" }

// pool is how many connections to the database there are. More would wait for
// the same lock and cost the database more to look after.
const pool = 64

// tries is how often a call begins anew when the database says so.
const tries = 4

// States of a row.
const (
	waiting = iota
	calling
	completed
)

// table is the service that the article had: a row for everybody, and the first
// one that waits is called under a row lock. It has the HTTP shape of dengxu and
// nothing of what that does besides: no keys, no idempotency, no ranks.
type table struct{ db *sql.DB }

// serveTable serves until it is told to end.
func serveTable(ctx context.Context, _ io.Writer) error {
	debug.SetGCPercent(300) // as dengxu serve does
	db, err := sql.Open("mysql", os.Getenv(tableDSN))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nobody waits any more
	db.SetMaxOpenConns(pool)
	db.SetMaxIdleConns(pool)
	t := &table{db}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /queue/{queue}/join", t.join)
	mux.HandleFunc("POST /queue/{queue}/counter/{counter}/call_next", t.callNext)
	server := &http.Server{Addr: os.Getenv(tableAddr), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// person is what a join says.
type person struct {
	BusinessID string `json:"business_id"`
	Name       string `json:"name"`
	Phone      string `json:"phone"`
}

// token is what is answered.
type token struct {
	Number    int64  `json:"number"`
	State     string `json:"state"`
	CounterID string `json:"counter_id,omitempty"`
	person
}

func (t *table) join(w http.ResponseWriter, r *http.Request) {
	var who person
	if err := json.NewDecoder(r.Body).Decode(&who); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	res, err := t.db.ExecContext(r.Context(),
		"INSERT INTO token (queue_id, state, business_id, name, phone, joined_at) VALUES (?, ?, ?, ?, ?, NOW(3))",
		r.PathValue("queue"), waiting, who.BusinessID, who.Name, who.Phone)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	number, _ := res.LastInsertId() // of the answer that came
	answer(w, http.StatusCreated, token{Number: number, State: "waiting", person: who})
}

func (t *table) callNext(w http.ResponseWriter, r *http.Request) {
	var called token
	var err error
	for range tries {
		called, err = t.call(r.Context(), r.PathValue("queue"), r.PathValue("counter"))
		if !again(err) {
			break
		}
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		w.WriteHeader(http.StatusNoContent)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		answer(w, http.StatusOK, called)
	}
}

// again reports whether the database asks to begin anew: a deadlock, or a lock
// that took too long.
func again(err error) bool {
	refused, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && (refused.Number == 1213 || refused.Number == 1205)
}

// call calls the first one that waits and completes what the counter has. The
// lock that all callers want comes first: in the other order the database finds
// deadlocks, and of 1,000 calls a second one in a hundred fails four times.
func (t *table) call(ctx context.Context, queue, counter string) (token, error) {
	called := token{State: "calling", CounterID: counter}
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return called, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	err = tx.QueryRowContext(ctx,
		"SELECT number, business_id, name, phone FROM token WHERE queue_id = ? AND state = ? ORDER BY number LIMIT 1 FOR UPDATE",
		queue, waiting).Scan(&called.Number, &called.BusinessID, &called.Name, &called.Phone)
	if err != nil {
		return called, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE token SET state = ?, completed_at = NOW(3) WHERE counter_id = ? AND state = ?",
		completed, counter, calling)
	if err != nil {
		return called, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE token SET state = ?, counter_id = ?, called_at = NOW(3) WHERE number = ?",
		calling, counter, called.Number)
	if err != nil {
		return called, err
	}
	return called, tx.Commit()
}

func answer(w http.ResponseWriter, status int, what token) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what) // the caller has gone
}
