// Package traces tells an OpenTelemetry collector how revisions go their way: one trace for each, to which every server adds its spans. The
// trace of a revision, and whether it is told at all, follow from the fleet and the revision's number alone. So servers agree on both without a word.
package traces
