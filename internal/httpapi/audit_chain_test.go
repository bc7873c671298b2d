package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"fairlead/internal/audit"
	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
)

// What the API lists is enough to verify the chain outside of it, whatever the events hold.
func TestT48_TheChainIsVerifiedFromWhatIsListed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "<ä>&\u2028 \"x\"", "role": "viewer"}`).is(201, nil)
	path := "/v1/tenants/" + w.tenant.Slug + "/audit/"
	verify := func(limit string) (n int) {
		t.Helper()
		c := audit.NewChain(w.tenant.ID.String(), audit.Anchor{})
		for cursor := ""; ; {
			var page struct {
				TenantID  string       `json:"tenant_id"`
				Items     []audit.Link `json:"items"`
				Head      audit.Link   `json:"head"`
				Unlinked  *int64       `json:"unlinked"`
				Unchained int64        `json:"unchained"`
				Next      string       `json:"next_cursor"`
			}
			must(t, json.Unmarshal(w.do(http.MethodGet, path+"chain?limit="+limit+cursor, "").is(200, nil).body, &page))
			if page.TenantID != w.tenant.ID.String() {
				t.Fatalf("of tenant %s", page.TenantID)
			}
			for _, l := range page.Items {
				if f := c.Add(l); f != nil {
					t.Fatal(f)
				}
				n++
			}
			if page.Next == "" {
				if f := c.End(page.Head.Seq, page.Head.Hash); f != nil || *page.Unlinked != 0 || page.Unchained != 0 {
					t.Error(f, *page.Unlinked)
				}
				return n
			}
			cursor = "&cursor=" + page.Next
		}
	}
	if n, m := verify("3"), verify("500"); n < 6 || n != m {
		t.Errorf("%d and %d links", n, m)
	}
	w.do(http.MethodGet, path+"chain?cursor=x", "").isProblem(400, "invalid_request", "?cursor")

	var list oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/acme/audit?limit=1", "").is(200, &list)
	var check oapi.AuditCheck
	w.do(http.MethodGet, path+"verify", "").is(200, &check)
	if check.State != oapi.Unverified || check.Head == nil || check.Head.Hash != deref(list.Items[0].Hash) || check.Head.Seq != deref(list.Items[0].Seq) || check.Signed != nil {
		t.Errorf("%+v of %+v", check, list.Items[0])
	}
	signer := audit.NewSigner([]byte("0123456789abcdef0123456789abcdef"))
	_, _, err := w.store.SignAudit(t.Context(), w.tenant.ID, signer, func() error { return nil })
	must(t, err)
	_, err = w.store.ClaimAudit(t.Context(), w.tenant.ID)
	must(t, err)
	must(t, w.store.SaveAuditCheck(t.Context(), w.tenant.ID, 5, nil))
	w.do(http.MethodGet, path+"verify", "").is(200, &check)
	if check.State != oapi.Intact || deref(check.CheckedSeq) != 5 || check.Signed == nil || check.Signed.Hash != check.Head.Hash {
		t.Errorf("%+v", check)
	}
	must(t, w.store.SaveAuditCheck(t.Context(), w.tenant.ID, 5, &audit.Fault{What: audit.EventChanged, Seq: 6, Detail: "it is"}))
	must(t, w.store.SaveAuditCheck(t.Context(), w.tenant.ID, 5, &audit.Fault{What: audit.EventChanged, Seq: 6, Detail: "it is"}))
	w.do(http.MethodGet, path+"verify", "").is(200, &check)
	if check.State != oapi.Broken || check.Fault.What != oapi.EventChanged || check.Fault.Seq != 6 {
		t.Errorf("%+v", check)
	}
	w.do(http.MethodGet, "/v1/tenants/acme/audit?kind=audit.broken", "").is(200, &list)
	if len(list.Items) != 1 { // once, however often it is found
		t.Errorf("%+v", list.Items)
	}
}

// Who reads what is told of Secrets, or takes the audit away, is in the audit, once in an hour with a number.
func TestT48_ReadingsAreInTheAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	var stored oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "secrets", "s"), asDocument(`{"name": "s", "generic_secret": {"secret": {"inline_string": "x"}}}`)).isWritten(&stored)
	viewer := []string{"Authorization", "Bearer " + w.token(w.tenant, auth.RoleViewer, nil)}
	for range 3 {
		w.do(http.MethodGet, w.at("resources", "secrets", "s"), "", viewer...).is(200, nil)
	}
	w.do(http.MethodGet, w.at("resources", "secrets"), "", viewer...).is(200, nil)
	w.do(http.MethodGet, w.at("resources"), "", viewer...).is(200, nil)
	w.do(http.MethodGet, fmt.Sprintf("%s?revision=%d", w.at("resources"), stored.Revision), "", viewer...).is(200, nil)
	w.do(http.MethodGet, w.at("resources", "clusters"), "", viewer...).is(200, nil)           // holds none
	w.do(http.MethodGet, w.at("resources", "secrets", "nothing"), "", viewer...).is(404, nil) // nothing was read
	w.do(http.MethodGet, "/v1/tenants/acme/audit?format=jsonl", "").is(200, nil)
	w.do(http.MethodGet, "/v1/tenants/acme/audit/chain", "").is(200, nil)
	w.do(http.MethodGet, "/v1/tenants/acme/audit", "").is(200, nil) // a look
	must(t, w.api.RecordDenials(t.Context(), false))
	got := map[string]float64{}
	var list oapi.AuditList
	for _, kind := range []string{secretsRead, auditExport, accessDenied} {
		w.do(http.MethodGet, "/v1/tenants/acme/audit?kind="+kind, "").is(200, &list)
		for _, e := range list.Items {
			got[e.Kind+" "+e.Object+" "+e.By.Name] = (*e.Detail)["requests"].(float64)
			if kind == secretsRead && (deref(e.Fleet) != "edge" || deref(e.Address) != "127.0.0.1") {
				t.Errorf("%+v", e)
			}
		}
	}
	if len(got) != 4 || got["secrets.read getResource viewer"] != 3 || got["secrets.read listResources viewer"] != 3 || got["audit.export listAudit owner"] != 1 || got["audit.export listAuditChain owner"] != 1 {
		t.Errorf("%v", got)
	}
}
