// Package replica keeps, in memory, the fleets that this process serves: it reads what
// changed, derives the next snapshot from the last, and tells the streams to look
// again. One goroutine per active fleet owns its reading; what streams see is swapped
// in by pointer. What it holds it goes on serving, whether or not the database answers.
//
// A fleet's owner has rooms, each with a rule who may call it:
//
//   - reading: catching up with the database; the owner's goroutine alone.
//   - builder, content, view: rows become values; anybody, they have no state.
//   - views, nodes, streams: what streams see, what nodes refuse, and who is to be woken;
//     whoever holds the owner's mu. Nodes know the views, streams know neither.
//   - earlierContents, newcomers: anybody, each has a lock of its own and calls
//     nobody.
package replica
