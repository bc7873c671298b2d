// Package store is Fairlead's Postgres: all SQL, transactions, migrations, the doorbell
// and its listener. Every method works for the one tenant that it is given, under
// row-level security; the few that do not are in the list of cross-tenant functions (SEMANTICS 8.4).
// Secrets reach it sealed and leave it sealed.
package store
