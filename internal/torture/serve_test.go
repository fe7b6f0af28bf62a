package torture

import (
	"context"
	"net/http"
	"testing"

	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
)

// serve runs a server in this process, over HTTP and a store (pebble when url is
// ""), for the duration of the test.
func serve(t *testing.T, url string) *client.Client {
	t.Helper()
	a, err := app.New(app.Options{Listen: "127.0.0.1:0", Data: t.TempDir(), StoreURL: url, Bare: true, AdminKey: childKey})
	if err == nil {
		err = a.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	c, err := client.New(client.Options{URL: a.URL(), Key: childKey, HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
