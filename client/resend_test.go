package client

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/dengxu/dengxu"
)

// TestAServerThatDiesWithARequest: the transport sends a request again when a
// connection that it used before is closed. If the server is gone by then, the
// last thing that it sees is a refused connection, but the request may have
// been carried out.
func TestAServerThatDiesWithARequest(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- answerOnce(listener) }()
	c, err := New(Options{URL: "http://" + listener.Addr().String(), Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(t.Context(), "main", JoinRequest{}); err != nil {
		t.Fatalf("the first join: %v", err)
	}
	_, err = c.Join(t.Context(), "main", JoinRequest{})
	if dengxu.CodeOf(err) != dengxu.Deadline || dengxu.ReasonOf(err) != "outcome_unknown" {
		t.Errorf("the second join: %v, want an unknown outcome", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// answerOnce answers the first request of the first connection, and is gone
// after it has read the second.
func answerOnce(listener net.Listener) error {
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	if _, err := readAllOf(in); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		return err
	}
	if _, err := readAllOf(in); err != nil {
		return err
	}
	if err := listener.Close(); err != nil {
		return err
	}
	return conn.Close()
}

func readAllOf(in *bufio.Reader) (int64, error) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, req.Body)
}
