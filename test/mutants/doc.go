// Command mutants breaks the protocol engine and the controls of threats on purpose, one at a time, and sees
// its test fail. Each *.patch beside it is a small diff whose first lines say what it
// breaks and which test has to notice. Those of a threat begin with its id in docs/threats.md:
//
//	Endpoints are not sent again behind a changed cluster.
//	Test: ./internal/xds TestRule14EndpointsFollowClusters
//
// The tree is never changed: the patched files stand in for the real ones in one build, or, where a test reads
// them itself, in a copy of the tree.
package main
