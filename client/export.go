package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/dengxu/dengxu"
)

// Export asks for everything that a server keeps of a site, or with "" of all, as
// lines of JSON: a backup that `dengxu import` reads. The caller reads and closes
// it; without its last line, of kind end, it is not whole. It is asked for once,
// without repeats, and needs an admin key.
func (c *Client) Export(ctx context.Context, site dengxu.SiteID) (io.ReadCloser, error) {
	query := url.Values{}
	set(query, "site", string(site))
	req, err := c.newRequest(ctx, get("/export", query), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, asError(dengxu.Unavailable, "export", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, readProblem(resp)
	}
	return resp.Body, nil
}
