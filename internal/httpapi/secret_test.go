package httpapi

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/seal"
)

const canary = "cAnArY-7f3a9e51-must-not-be-seen"

// pair makes a certificate and its key, as PEM.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop.example"}, DNSNames: []string{"shop.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	must(t, err)
	pk, err := x509.MarshalPKCS8PrivateKey(k)
	must(t, err)
	block := func(kind string, b []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", pk)
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// tracesLeft are the forms in which a secret text could turn up.
func tracesLeft(secret string) []string {
	return []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))[:len(secret)]}
}

func TestT27_SecretIsInNoAnswerNoTableAndNoLog(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cert, key := pair(t)
	keyLine := strings.Split(key, "\n")[1] // its first line of base64, long enough to be no accident
	path := func(name string) string { return w.at("resources", "secrets", name) }
	generic := `{"name": "password", "generic_secret": {"secret": {"inline_string": "` + canary + `"}}}`
	tls := `{"name": "tls", "tls_certificate": {"certificate_chain": {"inline_string": ` + quoted(cert) + `}, "private_key": {"inline_string": ` + quoted(key) + `}}}`

	var answers bytes.Buffer
	do := func(method, path, body string, headers ...string) answer {
		a := w.do(method, path, body, headers...)
		answers.Write(a.body)
		for name, values := range a.header {
			answers.WriteString(name + strings.Join(values, ","))
		}
		return a
	}
	do(http.MethodPut, path("password"), asDocument(generic)).isWritten(nil)
	do(http.MethodPut, path("tls"), asDocument(tls)).isWritten(nil)
	do(http.MethodPost, w.at("apply"), `{"message": "rotate", "resources": [{"type": "secrets", "name": "again", "body": `+
		strings.Replace(generic, `"password"`, `"again"`, 1)+`}]}`, "Idempotency-Key", "k").is(200, nil)
	for _, bad := range []string{
		strings.Replace(generic, `"inline_string"`, `"inline_sting"`, 1), generic + `x`, strings.Replace(generic, `{"name"`, `{"nome"`, 1),
		`{"name": "password", "generic_secret": "` + canary + `"}`, `{"name": "password", "generic_secret": {"secret": {"inline_bytes": "!` + canary + `"}}}`,
		strings.Replace(generic, `"name"`, `"@type": "`+canary+`", "name"`, 1),
		`{"name": "tls", "tls_certificate": {"certificate_chain": {"inline_string": ` + quoted(cert) + `}, "private_key": {"inline_string": ` + quoted("x"+key[30:]) + `}}}`,
	} {
		if a := do(http.MethodPut, path("password"), asDocument(bad)); a.status != 400 && a.status != 422 {
			t.Errorf("%s: %d %s", bad, a.status, a.body)
		}
	}
	do(http.MethodPut, path("password"), "body:\n  name: password\n  generic_secret: {secret: {inline_string: "+canary+"\n", "Content-Type", "application/yaml").is(400, nil)

	var got oapi.Resource
	do(http.MethodGet, path("tls"), "").is(200, &got)
	if got.Body != nil || got.Secret == nil || !strings.Contains(*got.Secret.Subject, "shop.example") || (*got.Secret.Sans)[0] != "shop.example" ||
		got.Secret.NotAfter.IsZero() || *got.Secret.Fingerprint == "" {
		t.Errorf("what is told of a secret: %+v", got.Secret)
	}
	for _, p := range []string{
		path("password"), w.at("resources"), w.at("resources", "secrets"), w.at("revisions"), w.at("revisions", "1"),
		w.at("revisions", "1", "receipt"), w.at("nodes"), w.at("credentials"), w.at(), "/v1/tenants/acme",
	} {
		do(http.MethodGet, p, "").is(200, nil)
	}

	for where, text := range map[string]string{"the answers": answers.String(), "the log": w.logs.String(), "the database": w.dump()} {
		for _, secret := range []string{canary, keyLine} {
			for _, trace := range tracesLeft(secret) {
				if strings.Contains(text, trace) {
					t.Errorf("%s show the secret as %q", where, trace)
				}
			}
		}
	}
	w.opens("password", canary)
}

// opens proves that the secret is there after all: whoever has the private key reads it.
func (w *world) opens(name, want string) {
	w.t.Helper()
	opener, err := seal.NewOpener(w.keys.Private)
	must(w.t, err)
	row, err := w.store.Resource(w.t.Context(), w.tenant.ID, w.fleet.ID, fleet.Secret, name, "")
	must(w.t, err)
	plain, err := opener.Open(seal.Context{Tenant: w.tenant.ID, Fleet: w.fleet.ID, Name: name, Version: row.Version}, row.Body)
	must(w.t, err)
	if !bytes.Contains(plain, []byte(want)) {
		w.t.Errorf("the sealed secret %s does not hold what was written", name)
	}
}

// dump is every column of every table as text, bytes as hex, read as the superuser; but
// not of the tables named.
func (w *world) dump(but ...string) string {
	w.t.Helper()
	conn := w.db.Connect(w.t, w.db.Owner)
	rows, err := conn.Query(w.t.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
	must(w.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(w.t, err)
	if len(tables) < 15 {
		w.t.Fatalf("only %d tables", len(tables))
	}
	var all strings.Builder
	for _, table := range tables {
		if slices.Contains(but, table) {
			continue
		}
		rows, err := conn.Query(w.t.Context(), `SELECT t::text FROM `+table+` t`)
		must(w.t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		must(w.t, err)
		all.WriteString(strings.Join(texts, "\n"))
	}
	return all.String()
}

// TestCanaryTestSees proves that the search finds what is stored in the clear, as text
// and as bytes.
func TestCanaryTestSees(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), `{"description": "`+canary+`-text", "body": `+
		`{"name": "a", "alt_stat_name": "`+canary+`-bytes"}}`).is(201, nil)
	all := w.dump()
	if !strings.Contains(all, canary+"-text") || !strings.Contains(all, hex.EncodeToString([]byte(canary+"-bytes"))) {
		t.Error("the dump misses what is there")
	}
}

func TestT27_TokensAreInNoTableAndNoLog(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var k oapi.TokenCreated
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "viewer"}`).is(201, &k)
	var c oapi.CredentialCreated
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, &c)
	w.do(http.MethodGet, w.at(), "", "Authorization", "Bearer "+k.Token).is(200, nil)
	w.do(http.MethodGet, w.at("nodes", k.Token), "").is(404, nil) // somebody pastes it into a path
	w.do(http.MethodGet, w.at("nodes")+"?cursor="+k.Token, "").is(400, nil)
	w.do(http.MethodGet, w.at("nodes")+"?"+k.Token+"="+k.Token, "").is(400, nil)
	w.do(http.MethodGet, "/"+k.Token, "").is(404, nil)
	page := w.signedIn(k.Token)
	page.do(http.MethodGet, w.at("nodes", page.secret()), "").is(404, nil)
	w.do(http.MethodGet, w.at(), "", "Authorization", "Bearer "+page.secret()).is(401, nil)
	w.do(http.MethodPost, "/v1/session", `{"token": "`+page.secret()+`"}`).is(401, nil)
	all := w.dump() + w.logs.String()
	for _, token := range []string{k.Token, c.Token, w.owner, page.secret()} {
		for _, trace := range tracesLeft(token) {
			if strings.Contains(all, trace) {
				t.Errorf("the token %s... is stored or logged", token[:8])
			}
		}
	}
}

func TestOnlyWhoMayWriteSecretsWritesThem(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := `{"name": "s", "generic_secret": {"secret": {"inline_string": "x"}}}`
	path := w.at("resources", "secrets", "s")
	plain := "Bearer " + w.token(w.tenant, auth.RoleCI, &w.fleet.ID)
	var made oapi.TokenCreated
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "ci", "fleet": "edge", "writes_secrets": true}`).is(201, &made)
	trusted := "Bearer " + made.Token
	w.do(http.MethodPut, path, asDocument(secret), "Authorization", plain).isProblem(403, "forbidden", "")
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "secrets", "name": "s", "body": `+secret+`}]}`, "Authorization", plain).isProblem(403, "forbidden", "")
	for _, a := range []answer{
		w.do(http.MethodPut, path, asDocument(secret), "Authorization", plain),
		w.do(http.MethodDelete, path, "", "Authorization", plain),
		w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "secrets", "name": "s", "body": `+secret+`}]}`, "Authorization", plain),
		w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "secrets", "name": "s"}]}`, "Authorization", plain),
	} {
		const want = "the secret \"s\": a token of the role ci writes secrets only with writes_secrets: ask an admin for a token with that, or of the role editor"
		if got := a.isProblem(403, "forbidden", "").Detail; deref(got) != want {
			t.Errorf("%q, want %q", deref(got), want)
		}
	}
	w.do(http.MethodPut, path, asDocument(secret), "Authorization", trusted).isWritten(nil)
	w.do(http.MethodDelete, path, "", "Authorization", plain).isProblem(403, "forbidden", "")
	w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "secrets", "name": "s"}]}`, "Authorization", plain).isProblem(403, "forbidden", "")
	w.do(http.MethodDelete, path, "", "Authorization", trusted).is(200, nil)
}
