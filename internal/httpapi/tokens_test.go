package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const tokensPath = "/v1/tenants/acme/tokens"

// made is the answer to a POST of a token as the bearer.
func (w *world) made(bearer, body string) oapi.TokenCreated {
	w.t.Helper()
	var out oapi.TokenCreated
	w.do(http.MethodPost, tokensPath, body, "Authorization", "Bearer "+bearer).is(201, &out)
	return out
}

// reach is, for each caller, whose tokens it mints and revokes: of viewer, ci, editor,
// admin and owner. Nobody reaches above their own role.
var reach = map[auth.Role]string{
	auth.RoleViewer: "nnnnn", auth.RoleCI: "nnnnn", auth.RoleEditor: "nnnnn", auth.RoleAdmin: "yyyyn", auth.RoleOwner: "yyyyy", "operator": "yyyyy",
}

func TestT43_NobodyMintsOrRevokesAboveTheirRole(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, caller := range append(auth.Roles(), "operator") {
		var bearer string
		switch caller {
		case "operator":
			bearer = w.operator()
		case auth.RoleCI:
			bearer = w.token(w.tenant, caller, &w.fleet.ID)
		default:
			bearer = w.token(w.tenant, caller, nil)
		}
		as := []string{"Authorization", "Bearer " + bearer}
		for i, role := range auth.Roles() {
			body := fmt.Sprintf(`{"name": "x", "role": %q, "fleet": "edge"}`, role)
			target := w.made(w.owner, body)
			mint := w.do(http.MethodPost, tokensPath, body, as...)
			revoke := w.do(http.MethodDelete, tokensPath+"/"+target.ApiToken.Id, "", as...)
			alive := w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+target.Token).status == http.StatusOK
			if reach[caller][i] == 'y' {
				if mint.status != 201 || revoke.status != 204 || alive {
					t.Errorf("%s reaches %s: mint %d, revoke %d, alive %t", caller, role, mint.status, revoke.status, alive)
				}
				continue
			}
			mint.isProblem(403, "forbidden", "")
			revoke.isProblem(403, "forbidden", "")
			if !alive {
				t.Errorf("%s ended a token of the role %s", caller, role)
			}
		}
	}
	admin := w.token(w.tenant, auth.RoleAdmin, nil)
	owners := w.made(w.owner, `{"name": "x", "role": "owner"}`)
	p := w.do(http.MethodDelete, tokensPath+"/"+owners.ApiToken.Id, "", "Authorization", "Bearer "+admin).isProblem(403, "forbidden", "")
	if *p.Detail != "nobody can revoke a token of a higher role than their own" {
		t.Errorf("told %q", *p.Detail)
	}
}

func TestT43_ATokenEndsWithItsMaker(t *testing.T) {
	t.Parallel()
	w := setup(t)
	end := time.Now().Add(30 * 24 * time.Hour).UTC().Truncate(time.Microsecond)
	admin := w.made(w.owner, fmt.Sprintf(`{"name": "ada", "role": "admin", "expires_at": %q}`, end.Format(time.RFC3339Nano)))
	if by := admin.ApiToken.MadeBy; by.Kind != oapi.MakerKindToken || by.Name != "owner" || admin.ApiToken.EndsWith == nil || *admin.ApiToken.EndsWith != *by.Id {
		t.Errorf("made %+v", admin.ApiToken)
	}
	// Its tokens end when it does, at the latest.
	child := w.made(admin.Token, `{"name": "pipeline", "role": "ci", "fleet": "edge"}`)
	if !child.ApiToken.ExpiresAt.Equal(end) || *child.ApiToken.EndsWith != admin.ApiToken.Id || child.ApiToken.MadeBy.Name != "ada" {
		t.Errorf("its child is %+v", child.ApiToken)
	}
	sooner := w.made(admin.Token, fmt.Sprintf(`{"name": "x", "role": "viewer", "expires_at": %q}`, end.Add(-time.Hour).Format(time.RFC3339)))
	if !sooner.ApiToken.ExpiresAt.Equal(end.Add(-time.Hour).Truncate(time.Second)) {
		t.Errorf("a sooner end became %v", sooner.ApiToken.ExpiresAt)
	}
	as := []string{"Authorization", "Bearer " + admin.Token}
	later := fmt.Sprintf(`{"name": "x", "role": "viewer", "expires_at": %q}`, end.Add(time.Hour).Format(time.RFC3339))
	p := w.do(http.MethodPost, tokensPath, later, as...).isProblem(400, "invalid_request", "/expires_at")
	if detail := (*p.Errors)[0].Detail; !strings.Contains(detail, "no later than "+end.Format(time.RFC3339Nano)) || !strings.Contains(detail, "handed_over") {
		t.Errorf("told %q", detail)
	}
	// Only an owner makes one that stands alone, or hands one over.
	w.do(http.MethodPost, tokensPath, `{"name": "x", "role": "viewer", "handed_over": true}`, as...).isProblem(403, "forbidden", "")
	w.do(http.MethodPost, tokensPath+"/"+child.ApiToken.Id+"/hand-over", "", as...).isProblem(403, "forbidden", "")
	alone := w.made(w.owner, `{"name": "next owner", "role": "owner", "handed_over": true, "expires_at": "`+time.Now().Add(300*24*time.Hour).Format(time.RFC3339)+`"}`)
	if alone.ApiToken.EndsWith != nil || alone.ApiToken.MadeBy.Name != "owner" {
		t.Errorf("handed over when made: %+v", alone.ApiToken)
	}
	given := w.made(admin.Token, `{"name": "given", "role": "ci", "fleet": "edge"}`)
	var k oapi.Token
	for range 2 {
		w.do(http.MethodPost, tokensPath+"/"+given.ApiToken.Id+"/hand-over", "").is(200, &k)
	}
	if k.EndsWith != nil || k.MadeBy.Name != "ada" || *k.Fleet != "edge" || !k.ExpiresAt.Equal(end) {
		t.Errorf("handed over: %+v", k)
	}
	w.do(http.MethodDelete, tokensPath+"/"+admin.ApiToken.Id, "").is(204, nil)
	for token, want := range map[string]int{admin.Token: 401, child.Token: 401, sooner.Token: 401, given.Token: 200, alone.Token: 200, w.owner: 200} {
		if got := w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+token).status; got != want {
			t.Errorf("a token answers %d, want %d", got, want)
		}
	}
	w.do(http.MethodPost, tokensPath+"/"+child.ApiToken.Id+"/hand-over", "").isProblem(409, "token_ended", "")
	w.do(http.MethodPost, tokensPath+"/nowhere/hand-over", "").isProblem(404, "not_found", "")
}

func TestT43_TheTenantSeesWhatAnOperatorMints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	made := w.made(w.operator(), `{"name": "support", "role": "owner"}`)
	if by := made.ApiToken.MadeBy; by.Kind != oapi.MakerKindOperator || by.Name != "operator" || made.ApiToken.EndsWith != nil {
		t.Errorf("made %+v", made.ApiToken)
	}
	w.made(w.owner, `{"name": "x", "role": "viewer"}`)
	var list oapi.TokenList
	w.do(http.MethodGet, tokensPath, "").is(200, &list)
	kinds := map[oapi.MakerKind]int{}
	for _, k := range list.Items {
		kinds[k.MadeBy.Kind]++
	}
	if kinds[oapi.MakerKindOperator] != 1 || kinds[oapi.MakerKindToken] != 1 || kinds[oapi.MakerKindServer] != 1 {
		t.Errorf("makers in the list: %v", kinds)
	}
	var page oapi.TenantEventList
	w.do(http.MethodGet, "/v1/tenants/acme/events?limit=1", "").is(200, &page)
	if len(page.Items) != 1 || page.Items[0].By.Name != "owner" || page.NextCursor == nil {
		t.Fatalf("first page %+v", page)
	}
	w.do(http.MethodGet, "/v1/tenants/acme/events?limit=1&cursor="+*page.NextCursor, "").is(200, &page)
	e := page.Items[0]
	if e.Kind != "token.create" || e.Object != "token "+made.ApiToken.Id || e.By.Kind != oapi.MakerKindOperator || e.By.Name != "operator" || (*e.Detail)["role"] != "owner" {
		t.Errorf("event %+v", e)
	}
	w.do(http.MethodGet, "/v1/tenants/acme/events?cursor=x", "").isProblem(400, "invalid_request", "?cursor")
}

func TestOperatorTokensEndAndAreRevoked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	as := []string{"Authorization", "Bearer " + w.operator()}
	const path = "/v1/operator/tokens"
	p := w.do(http.MethodDelete, path+"/"+w.operatorID.String(), "", as...).isProblem(409, "last_operator_token", "")
	if !strings.Contains(*p.Detail, "make another") {
		t.Errorf("told %q", *p.Detail)
	}
	var made oapi.OperatorTokenCreated
	w.do(http.MethodPost, path, `{"name": "grace"}`, as...).is(201, &made)
	k := made.OperatorToken
	if !strings.HasPrefix(made.Token, "flo_") || k.Name != "grace" || *k.MadeBy != "operator" || k.ExpiresAt.Sub(k.CreatedAt).Round(time.Hour) != defaultLife {
		t.Errorf("made %+v", made)
	}
	w.do(http.MethodPost, path, `{"name": "x", "expires_at": "2099-01-01T00:00:00Z"}`, as...).isProblem(400, "invalid_request", "/expires_at")
	w.do(http.MethodPost, path, `{"name": "x", "expires_at": "2020-01-01T00:00:00Z"}`, as...).isProblem(400, "invalid_request", "/expires_at")
	grace := []string{"Authorization", "Bearer " + made.Token}
	for range 2 {
		w.do(http.MethodDelete, path+"/"+w.operatorID.String(), "", grace...).is(204, nil)
	}
	w.do(http.MethodGet, path, "", as...).isProblem(401, "unauthenticated", "")
	a := w.do(http.MethodGet, path, "", grace...)
	var list oapi.OperatorTokenList
	a.is(200, &list)
	if len(list.Items) != 2 || list.Items[1].RevokedAt == nil || *list.Items[1].RevokedBy != "grace" || strings.Contains(string(a.body), made.Token) {
		t.Errorf("list %s", a.body)
	}
	w.do(http.MethodDelete, path+"/nowhere", "", grace...).isProblem(404, "not_found", "")
	w.db.Exec(t, `UPDATE operator_tokens SET expires_at = clock_timestamp()`)
	w.do(http.MethodGet, path, "", grace...).isProblem(401, "unauthenticated", "")
	if err := w.store.CreateFirstOperatorToken(t.Context(), store.OperatorToken{ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
		t.Errorf("where none is good: %v", err)
	}
}

// A pipeline's token that leaks is good for one fleet, for a while, for no other token,
// and ends with the next request after it is revoked.
func TestT32_ALeakedPipelineTokenReachesLittle(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.newFleet(w.tenant, "core")
	body := func(days int) string {
		return fmt.Sprintf(`{"name": "pipeline", "role": "ci", "fleet": "edge", "handed_over": true, "expires_at": %q}`, time.Now().AddDate(0, 0, days).Format(time.RFC3339))
	}
	p := w.do(http.MethodPost, tokensPath, body(91)).isProblem(400, "invalid_request", "/expires_at")
	if detail := (*p.Errors)[0].Detail; !strings.Contains(detail, "90 days") {
		t.Errorf("told %q", detail)
	}
	w.do(http.MethodPost, tokensPath, `{"name": "pipeline", "role": "ci"}`).isProblem(400, "invalid_request", "/fleet")
	ci := w.made(w.owner, body(89))
	as := []string{"Authorization", "Bearer " + ci.Token}
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(cluster("a")), as...).isWritten(nil)
	w.do(http.MethodPut, "/v1/tenants/acme/fleets/core/resources/clusters/a", asDocument(cluster("a")), as...).isProblem(404, "not_found", "")
	secret := asDocument(`{"name": "s", "generic_secret": {"secret": {"inline_string": "hush"}}}`)
	w.do(http.MethodPut, w.at("resources", "secrets", "s"), secret, as...).isProblem(403, "forbidden", "")
	w.do(http.MethodPost, tokensPath, `{"name": "x", "role": "viewer"}`, as...).isProblem(403, "forbidden", "")
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`, as...).isProblem(403, "forbidden", "")
	w.do(http.MethodGet, tokensPath, "", as...).isProblem(403, "forbidden", "")
	w.do(http.MethodGet, "/v1/tenants/acme/events", "", as...).isProblem(403, "forbidden", "")
	w.do(http.MethodDelete, tokensPath+"/"+ci.ApiToken.Id, "").is(204, nil)
	w.do(http.MethodGet, w.at(), "", as...).isProblem(401, "unauthenticated", "")
}

// A viewer's token that is listed as one that writes secrets would be read as what it is not.
func TestAViewersTokenWritesNoSecrets(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPost, tokensPath, `{"name": "x", "role": "viewer", "writes_secrets": true}`).isProblem(400, "invalid_request", "/writes_secrets")
	w.do(http.MethodPost, tokensPath, `{"name": "x", "role": "viewer", "writes_secrets": false}`).is(201, nil)
}

// An admin's token makes node credentials and is found to have leaked: nothing that it made is left, and it says so before.
func TestT43_ALeakedTokensCredentialsDieWithIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	admin := w.made(w.owner, `{"name": "ada", "role": "admin"}`)
	child := w.made(admin.Token, `{"name": "bob", "role": "admin"}`)
	given := w.made(admin.Token, `{"name": "given", "role": "admin"}`)
	w.do(http.MethodPost, tokensPath+"/"+given.ApiToken.Id+"/hand-over", "").is(200, nil)
	credential := func(bearer, path, body string) oapi.Credential {
		t.Helper()
		var c oapi.CredentialCreated
		w.do(http.MethodPost, path, body, "Authorization", "Bearer "+bearer).is(201, &c)
		return c.Credential
	}
	kept := credential(w.owner, w.at("credentials"), `{"nodes": "edge-*"}`)
	mine := []oapi.Credential{
		credential(admin.Token, w.at("credentials"), `{"nodes": "*"}`), credential(child.Token, w.at("credentials"), `{"nodes": "*"}`),
		credential(given.Token, w.at("credentials"), `{"nodes": "*"}`), credential(admin.Token, w.at("credentials", kept.Id, "renew"), `{}`),
	}
	if by := mine[1].MadeBy; by == nil || by.Kind != oapi.MakerKindToken || by.Name != "bob" || *by.Id != child.ApiToken.Id {
		t.Errorf("made by %+v", by)
	}
	path := tokensPath + "/" + admin.ApiToken.Id
	var m oapi.TokenMade
	w.do(http.MethodGet, path+"/made", "").is(200, &m)
	if m.TokenCount != 2 || m.StayingTokenCount != 1 || len(m.Tokens) != 2 || m.CredentialCount != 4 || len(m.Credentials) != 4 ||
		m.Credentials[0].Fleet != "edge" || m.Credentials[0].Credential.Id != mine[3].Id {
		t.Errorf("made %+v", m)
	}
	state := func() (out []bool) {
		t.Helper()
		var list oapi.CredentialList
		w.do(http.MethodGet, w.at("credentials")+"?state=active", "").is(200, &list)
		for _, c := range append(mine, kept) {
			out = append(out, slices.ContainsFunc(list.Items, func(x oapi.Credential) bool { return x.Id == c.Id }))
		}
		return out
	}
	w.do(http.MethodDelete, path, "").is(204, nil)
	if got := state(); slices.Contains(got, false) {
		t.Errorf("a plain revocation leaves %v", got)
	}
	w.do(http.MethodDelete, path+"?leaked=true", "").is(204, nil)
	if got := state(); !slices.Equal(got, []bool{false, false, false, false, true}) {
		t.Errorf("of a leaked token %v is left", got)
	}
	w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+given.Token).isProblem(401, "unauthenticated", "")
	w.do(http.MethodGet, path+"/made", "").is(200, &m)
	if m.TokenCount != 0 || m.CredentialCount != 0 {
		t.Errorf("afterwards %+v", m)
	}
	w.do(http.MethodGet, tokensPath+"/nowhere/made", "").isProblem(404, "not_found", "")
	w.do(http.MethodDelete, path+"?leaked=perhaps", "").isProblem(400, "invalid_request", "?leaked")
}
