// Package metricstest reads metrics as a scrape tells them, for tests.
package metricstest
