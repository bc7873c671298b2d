package store

import (
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Actor is who makes a change, for history and audit.
type Actor struct {
	Credential fleet.CredentialID
	Name       string
	RequestID  string
	IP         string
}

// json is the actor as the schema's functions take it.
func (a Actor) json() map[string]any {
	m := map[string]any{"actor": a.Name, "request_id": a.RequestID, "ip": a.IP}
	if a.Credential != (fleet.CredentialID{}) {
		m["credential"] = a.Credential.String()
	}
	return m
}

const insertAudit = `
INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, fleet_id, detail)
VALUES (app_tenant(), $1, $2, $3, $4, $5, $6, $7, $8)`

// event is what an audit row tells beside who and when. Values never stand in it.
type event struct {
	action, object string
	fleet          fleet.ID
	detail         map[string]any
}

// queueRoom refuses what would add to the audit of a tenant that is at its limit.
func queueRoom(b *pgx.Batch) { b.Queue(`SELECT audit_must_have_room(app_tenant(), 1)`) }

// queueAudit adds the row to the change's own transaction: a change that cannot be
// recorded does not happen.
func queueAudit(b *pgx.Batch, a Actor, e event) {
	var detail []byte
	if e.detail != nil {
		detail, _ = json.Marshal(e.detail) // strings and numbers
	}
	b.Queue(insertAudit, uuidOrNil(a.Credential), a.Name, a.IP, a.RequestID, e.action, e.object, uuidOrNil(e.fleet), detail)
}
