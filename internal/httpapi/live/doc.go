// Package live lets requests wait for what changes: a fleet's events, receipts, and that there is something new in a fleet or in any of a tenant's. However many wait, the database
// is asked one question of each kind in a quarter of a second. Who waits is told when what they came with has ended: the token, the session, the fleet, the server.
package live
