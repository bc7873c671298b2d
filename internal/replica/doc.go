// Package replica keeps, in memory, the fleets that this process serves: it reads what
// changed, derives the next snapshot from the last, and tells the streams to look
// again. One goroutine per active fleet owns its reading; what streams see is swapped
// in by pointer. What it holds it goes on serving, whether or not the database answers.
package replica
