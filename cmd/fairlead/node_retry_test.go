package main

import "testing"

func TestRetryNode(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/nodes/a%2Fb/retry", ok(`{"node": "a/b", "state": "live", "retried": 3, "resources": [{"type": "clusters", "name": "c\u001b[2J"}, {"type": "listeners", "name": "l"}]}`))
	w.run("retry", "a/b").want(t, exitOK, "a/b: 3 resources are offered again now\nclusters/c[2J\nlisteners/l\nand 1 more\n", "")
	w.on("POST", "/nodes/n/retry",
		ok(`{"node": "n", "state": "offline", "retried": 1, "resources": [{"type": "clusters", "name": "c"}]}`),
		problemReply(409, "nothing_refused", "the node refuses nothing at present"))
	w.run("retry", "n").want(t, exitOK, "n: 1 resource is offered again when it comes back\nclusters/c\n", "")
	w.run("retry", "n").want(t, exitFailed, "", "fairlead: Conflict: the node refuses nothing at present\nrequest id req-1\n")
}
