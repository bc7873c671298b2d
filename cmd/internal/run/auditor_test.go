package run

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// audited is a database with one tenant and an event or two.
func audited(t *testing.T) (*storetest.DB, *store.Store, fleet.TenantID) {
	t.Helper()
	db := storetest.New(t)
	s := db.Store(t)
	tenant := db.Tenant(t)
	writeEvents(t, s, tenant, 3)
	return db, s, tenant
}

func writeEvents(t *testing.T, s *store.Store, tenant fleet.TenantID, n int) {
	t.Helper()
	for range n {
		most := int64(60)
		if err := s.SetLimits(t.Context(), tenant, store.Actor{Name: "ada"}, map[store.LimitName]*int64{store.LimitTokens: &most}); err != nil {
			t.Fatal(err)
		}
	}
}

// A head goes to the log as it is signed, in the words that the command line reads; what is wrong is an error there, and stands in the database.
func TestT48_HeadsAreExportedAndFaultsAreTold(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	signer := audit.NewSigner([]byte("0123456789abcdef0123456789abcdef"))
	var out bytes.Buffer
	a := auditor{s, signer, slog.New(slog.NewJSONHandler(&out, nil))}
	if a.once(t.Context()) {
		t.Fatal(out.String())
	}
	var heads []audit.Head
	for line := range strings.Lines(out.String()) {
		var h audit.Head
		if err := json.Unmarshal([]byte(line), &h); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"msg":"audit head"`) {
			heads = append(heads, h)
		}
	}
	if len(heads) != 1 || !signer.Signed(heads[0]) || heads[0].Tenant != tenant.String() || heads[0].Seq != 4 {
		t.Fatalf("%+v of %s", heads, out.String())
	}
	if c, err := s.AuditCheck(t.Context(), tenant); err != nil || c.At.IsZero() || c.Seq != 4 || c.Fault != nil {
		t.Errorf("%+v, %v", c, err)
	}

	// Nothing is due now; a thousand events or an hour later a head is, a day later a verification.
	out.Reset()
	writeEvents(t, s, tenant, 1)
	if a.once(t.Context()); out.Len() > 0 {
		t.Errorf("at once again: %s", out.String())
	}
	db.Exec(t, `SET session_replication_role = replica; UPDATE audit_events SET actor = 'eve' WHERE action = 'tenant.create'; RESET session_replication_role`)
	db.Exec(t, `UPDATE audit_checks SET checked_at = checked_at - interval '25 hours'`)
	a.once(t.Context())
	if !strings.Contains(out.String(), `"level":"ERROR"`) || !strings.Contains(out.String(), `"what":"event_changed","seq":1`) {
		t.Error(out.String())
	}
	if c, err := s.AuditCheck(t.Context(), tenant); err != nil || c.Fault == nil || c.Fault.Seq != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	es, _, err := s.Audit(t.Context(), tenant, store.AuditFilter{Kind: "audit.broken"})
	if err != nil || len(es) != 1 {
		t.Errorf("%+v, %v", es, err)
	}
}

// Of two servers one works at a tenant's audit; what a dead one had claimed is free after five minutes.
func TestT48_OneServerAuditsATenantAtATime(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	var out bytes.Buffer
	a := auditor{s, audit.NewSigner([]byte("x")), slog.New(slog.NewJSONHandler(&out, nil))}
	if mine, err := s.ClaimAudit(t.Context(), tenant); err != nil || !mine {
		t.Fatal(mine, err)
	}
	if mine, err := s.ClaimAudit(t.Context(), tenant); err != nil || mine {
		t.Error("two have it", err)
	}
	if a.once(t.Context()); out.Len() > 0 {
		t.Error(out.String())
	}
	db.Exec(t, `UPDATE audit_checks SET claimed_until = claimed_until - interval '6 minutes'`)
	if a.once(t.Context()); !strings.Contains(out.String(), "audit head") {
		t.Error(out.String())
	}
}

// interrupted is a store whose first verification does not come to its end.
type interrupted struct {
	*store.Store
	fault *audit.Fault // that signing finds; nil: none
	how   func() error
}

func (i *interrupted) SignAudit(ctx context.Context, t fleet.TenantID, by audit.Signer, keep func() error) (*audit.Head, *audit.Fault, error) {
	if i.fault != nil {
		return nil, i.fault, nil
	}
	return i.Store.SignAudit(ctx, t, by, keep)
}

func (i *interrupted) VerifyAudit(ctx context.Context, t fleet.TenantID, by audit.Signer, keep func() error) (int64, *audit.Fault, error) {
	if how := i.how; how != nil {
		i.how = nil
		return 0, nil, how()
	}
	return i.Store.VerifyAudit(ctx, t, by, keep)
}

// A server that stops while it verifies leaves the audit to the others at once, and not in five minutes.
func TestT48_AServerThatStopsLeavesTheAuditToOthers(t *testing.T) {
	t.Parallel()
	_, s, tenant := audited(t)
	ctx, stop := context.WithCancel(t.Context())
	a := auditor{&interrupted{Store: s, how: func() error { stop(); return ctx.Err() }}, audit.NewSigner([]byte("x")), slog.New(slog.DiscardHandler)}
	if !a.once(ctx) {
		t.Error("the verification is said to have ended")
	}
	if mine, err := s.ClaimAudit(t.Context(), tenant); err != nil || !mine {
		t.Errorf("another server has it: %v, %v", mine, err)
	}
}

// A fault that is found when a head is signed is told, also where the verification fails at first.
func TestT48_AFaultIsToldThoughTheVerificationFails(t *testing.T) {
	t.Parallel()
	_, s, tenant := audited(t)
	var out bytes.Buffer
	fault := &audit.Fault{What: audit.HeadMovedBack, Seq: 3, Detail: "x"}
	a := auditor{&interrupted{s, fault, func() error { return fleet.ErrUnavailable }}, audit.NewSigner([]byte("x")), slog.New(slog.NewJSONHandler(&out, nil))}
	for range 3 {
		a.once(t.Context())
	}
	if n := strings.Count(out.String(), "not as it was written"); n != 1 {
		t.Errorf("told %d times: %s", n, out.String())
	}
	if c, err := s.AuditCheck(t.Context(), tenant); err != nil || c.Fault == nil || c.Fault.What != audit.HeadMovedBack {
		t.Errorf("%+v, %v", c, err)
	}
}
