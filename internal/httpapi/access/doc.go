// Package access bounds what callers of the API may cost, in one process: how fast their requests come, how many of them are worked on or
// wait, what is held of answers that they do not read, and how much they find out of Secrets by guessing. It counts what they were denied,
// so that an audit can be told.
package access
