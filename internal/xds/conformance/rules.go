package conformance

// Rules are the protocol's rules as this project counts them: what each is called in the
// names of tests, and in a few words. Rule 0 is the list of types and services.
var Rules = []struct{ Name, Title string }{
	0:  {"TypesAndServices", "A closed set of types, each over its own service and all over ADS"},
	1:  {"LegacyWildcard", "An empty first list means everything for Listener, Cluster, ScopedRoute and (delta) VirtualHost, and nothing for other types"},
	2:  {"WildcardBesideNames", "`*` may stand beside names"},
	3:  {"UnsubscribedWildcard", "Delta: a first request that only gives `*` up subscribes to nothing"},
	4:  {"NamesAreAnswered", "Delta: every name that is subscribed to is answered"},
	5:  {"MissingNames", "A name that does not exist is answered so that no proxy waits, and is sent once it exists"},
	6:  {"Unsubscribing", "Delta: an unsubscription is not answered, but under a wildcard"},
	7:  {"NewNames", "SotW: what is newly named is sent, whatever its version"},
	8:  {"VirtualHosts", "Virtual hosts on demand, by alias"},
	9:  {"NamesInResponses", "No name stands twice in one response, and names are those within the bodies"},
	10: {"WhatAResponseHolds", "Full sets where the protocol wants them, else only what changed"},
	11: {"UnchangedIsNotSent", "What did not change is not sent again"},
	12: {"VersionsAreContent", "The same content has the same version everywhere and always"},
	13: {"NewStreams", "A client that returns is sent what it lacks, and one answer at least"},
	14: {"EndpointsFollowClusters", "Endpoints are sent again behind a cluster that changed"},
	15: {"OneResponseInFlight", "One unanswered response per type; types do not wait for each other"},
	16: {"Refusals", "A refused resource stops itself alone"},
	17: {"Nonces", "Answers are matched by nonce"},
	18: {"Nodes", "The node is pinned to the stream, and the credential says who may be it"},
	19: {"MakeBeforeBreak", "ADS: nothing names a cluster that the client does not have"},
	20: {"WhoGetsTTLs", "TTLs are sent to those clients that act on them, and to none that they would hurt"},
	21: {"Heartbeats", "TTLs are renewed in time, by as little as possible"},
	22: {"ChangedTTLs", "A TTL that changes is sent"},
	23: {"Expiry", "What expired is sent in full"},
	24: {"Limits", "What one stream may cost is bounded"},
	25: {"Connections", "Streams age, quiet ones are left alone, and nothing is larger than clients take"},
	26: {"Loading", "Nothing is sent of a fleet that is not known"},
	27: {"Polls", "REST: 304 is for what is current alone, and an empty set is never an error"},
}
