package forward

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// mostAnswer is how much is read of an answer.
const mostAnswer = 1 << 20

// WebhookConfig is what a Webhook needs.
type WebhookConfig struct {
	URL    string       // https, or http to a loopback address
	Secret []byte       // that signs: 24 bytes or more
	Client *http.Client // whose transport is used; nil: one with the system's certificates
}

// Webhook posts batches as JSON, signed as Standard Webhooks has it: the headers webhook-id, webhook-timestamp and webhook-signature, which is "v1," and the HMAC-SHA256 in base64 of
// id, timestamp and body with dots between. The id is the batch's: the same batch has the same when it is sent again, and another one that begins alike has another.
type Webhook struct {
	url    string
	secret []byte
	client *http.Client
}

// NewWebhook checks the address and calls nobody.
func NewWebhook(c WebhookConfig) (*Webhook, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the webhook's address: %w", fleet.ErrInvalid) // the text may hold a password
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("the webhook's address is no URL that it is posted to: write https://HOST/PATH, or http:// with a loopback address: %w", fleet.ErrInvalid)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("the webhook's address is not https://, and not of this machine: write https://HOST/PATH, or http:// with a loopback address: %w", fleet.ErrInvalid)
	case len(c.Secret) < 24:
		return nil, fmt.Errorf("the webhook's key has %d bytes, and needs 24: %w", len(c.Secret), fleet.ErrInvalid)
	}
	client := &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	if c.Client != nil {
		transport = c.Client.Transport.(*http.Transport).Clone() //nolint:forcetypeassert // a test's
	}
	transport.Proxy = nil // what is sent goes to the address that the operator named, and nowhere else
	client.Transport = transport
	return &Webhook{url: c.URL, secret: c.Secret, client: client}, nil
}

// ParseSecret reads what a key file holds: "whsec_" and base64, as Standard Webhooks has it, or base64 alone.
func ParseSecret(text string) ([]byte, error) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "whsec_"))
	if err != nil {
		return nil, fmt.Errorf("it is not base64, with or without whsec_ before it: %w", fleet.ErrInvalid)
	}
	return secret, nil
}

// Name is the collector's.
func (w *Webhook) Name() string { return "webhook" }

// Send posts the batch. Any answer but 2xx is an error; redirects are not followed.
func (w *Webhook) Send(ctx context.Context, b Batch) error {
	body, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("write a batch of the audit: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call the webhook: %w", err)
	}
	id, now := b.id(body), strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "fairlead")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", now)
	r.Header.Set("Webhook-Signature", Signature(w.secret, id, now, body))
	answer, err := w.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a password
		}
		return fmt.Errorf("call the webhook: %w", err)
	}
	defer answer.Body.Close()                                                               //nolint:errcheck // read
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)); err != nil { // so that the connection serves again
		return fmt.Errorf("read the webhook's answer: %w", err)
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the webhook answers %d: %w", answer.StatusCode, fleet.ErrUnavailable)
	}
	return nil
}

// id tells batches apart by all that is in them: who has a batch may drop another one of the same id.
func (b Batch) id(body []byte) string {
	sum := sha256.Sum256(body)
	return "audit_" + b.TenantID + "_" + hex.EncodeToString(sum[:16])
}

// Signature is the value of the header webhook-signature.
func Signature(secret []byte, id, timestamp string, body []byte) string {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(id + "." + timestamp + "."))
	m.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// loopback reports whether the host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
