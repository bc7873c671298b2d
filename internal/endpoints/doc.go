// Package endpoints builds what is served of clusters that have endpoints as data: their documents, merged with the rows. Every API server has a Builder; which of
// them builds a fleet the database decides, turn by turn.
package endpoints
