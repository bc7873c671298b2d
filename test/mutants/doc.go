// Command mutants breaks the protocol engine on purpose, one rule at a time, and sees the
// rule's test fail. Each *.patch beside it is a small diff whose first lines say what it
// breaks and which test has to notice:
//
//	Endpoints are not sent again behind a changed cluster.
//	Test: ./internal/xds TestRule14EndpointsFollowClusters
//
// The tree is never changed: the patched files stand in for the real ones in one build.
package main
