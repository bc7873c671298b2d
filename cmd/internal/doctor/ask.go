package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	client "fairlead/clients/go"
)

const maxAnswer = 64 << 20

// get asks for a path below the API's URL. The token goes to nobody whose certificate is not good.
func (x *examination) get(ctx context.Context, path string) (answer, error) {
	t := &http.Transport{
		Proxy:             func(*http.Request) (*url.URL, error) { return x.api.proxy, nil },
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	c := &http.Client{Transport: t, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(x.API.URL.String(), "/")+path, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	if strings.HasPrefix(path, "/v1/") {
		r.Header.Set("Authorization", "Bearer "+x.API.Token.Reveal())
	}
	r.Header.Set("User-Agent", "fairlead-doctor")
	return fetched(c, r, maxAnswer)
}

// answer is what an HTTP server said.
type answer struct {
	code   int
	status string // with its words
	header http.Header
	body   []byte // what was read of it, also beside an error
}

// fetched reads at most so many bytes of an answer's body.
func fetched(c *http.Client, r *http.Request, most int64) (answer, error) {
	resp, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	return answer{resp.StatusCode, resp.Status, resp.Header, body}, err
}

// refusal is a problem that the API answered.
type refusal struct{ client.Problem }

func (r *refusal) Error() string {
	if r.Detail != nil {
		return *r.Detail
	}
	return r.Title
}

// read gets a document.
func read[T any](ctx context.Context, x *examination, path string) (out T, err error) {
	got, err := x.get(ctx, path)
	if err != nil {
		return out, errors.New(inner(err))
	}
	if got.code != http.StatusOK {
		var p client.Problem
		if json.Unmarshal(got.body, &p) == nil && p.Title != "" {
			return out, &refusal{p}
		}
		return out, errors.New("the answer is " + got.status)
	}
	if err := json.Unmarshal(got.body, &out); err != nil {
		return out, fmt.Errorf("the answer is not what the contract says: %w", err)
	}
	return out, nil
}

// list gets the pages of a list, and whether there are more than that.
func list[T any](ctx context.Context, x *examination, path string, pages int) (all []T, more bool, err error) {
	for cursor := ""; ; {
		var query url.Values = map[string][]string{"limit": {"500"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		p, err := read[struct {
			Items      []T     `json:"items"`
			NextCursor *string `json:"next_cursor"`
		}](ctx, x, path+"?"+query.Encode())
		if err != nil {
			return all, false, err
		}
		all = append(all, p.Items...)
		if p.NextCursor == nil || *p.NextCursor == "" {
			return all, false, nil
		}
		if pages--; pages == 0 {
			return all, true, nil
		}
		cursor = *p.NextCursor
	}
}
