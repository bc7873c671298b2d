// Package fleet is Fairlead's vocabulary: identities, the closed set of resource
// types, positions in a fleet's history, the rows that cross a layer, and the
// kinds of errors. It imports the standard library alone and does nothing.
package fleet
