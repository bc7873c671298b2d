package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Who revokes a token reads what ended with it, what it made and stays, and how to end that too.
func TestT43_RevokingATokenTellsWhatItMade(t *testing.T) {
	t.Parallel()
	const token = "/v1/tenants/acme/tokens/tok1"
	const done = "token tok1 is revoked\n"
	for name, c := range map[string]struct {
		made reply
		args string
		want string
		sent string // with the request that revokes
	}{
		"nothing": {madeReply(0, 0, 0), "", done, ""},
		"some stays": {madeReply(3, 1, 2), "", done + "with it ended what it made: tokens 2\n" +
			"what it made and stays: tokens 1, node credentials 2; if it leaked, end that too: fairlead token revoke tok1 --leaked\n", ""},
		"leaked":                      {madeReply(3, 1, 2), " --leaked", done + "with it ended what it made: tokens 3, node credentials 2\n", "?leaked=true"},
		"an older server":             {reply{status: http.StatusNotFound, body: "{}"}, "", done + "what it made is not known: ", ""},
		"leaked, and it made nothing": {madeReply(0, 0, 0), " --leaked", done, "?leaked=true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.replies["GET "+token+"/made"] = []reply{c.made}
			w.replies["DELETE "+token] = []reply{{status: http.StatusNoContent}}
			r := w.run(strings.Fields("token revoke tok1" + c.args)...)
			if r.code != exitOK || !strings.HasPrefix(r.err, c.want) || c.made.status == http.StatusOK && r.err != c.want {
				t.Errorf("%+v", r)
			}
			if sent := w.requests(); sent[len(sent)-1] != "DELETE "+token+c.sent {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

func madeReply(tokens, staying, credentials int) reply {
	return ok(fmt.Sprintf(`{"token_count": %d, "staying_token_count": %d, "tokens": [], "credential_count": %d, "credentials": []}`, tokens, staying, credentials))
}
