package bootstrap_test

import (
	"context"
	"testing"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
)

// TestT46_ARelayAddsItsToken: what comes through a relay has the relay's token and looks as if it had come directly, in
// both ways to give it the token.
func TestT46_ARelayAddsItsToken(t *testing.T) {
	t.Parallel()
	bin := envoyBinary(t)
	for name, c := range map[string]bootstrap.Config{
		"token in a file":     {TokenFile: "x", Plaintext: true},
		"token in a variable": {TokenEnv: "FAIRLEAD_NODE_TOKEN", Plaintext: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			server, _ := r.serve(t, true)
			c = files(t, c, nil, nodeToken)
			c.NodeID, c.XDSAddresses, c.RelayAddress = "relay-1", []string{server.Listener.Addr().String()}, "127.0.0.1:0"
			text, err := bootstrap.Relay(c)
			if err != nil {
				t.Fatal(err)
			}
			e, err := localenvoy.Start(t.Context(), localenvoy.Config{Bin: bin, Bootstrap: text, Dir: t.TempDir(), Env: []string{"FAIRLEAD_NODE_TOKEN=" + nodeToken}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Kill)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := e.Ready(ctx); err != nil {
				t.Fatal(err)
			}
			a := &attack{t: t, r: r, e: e, ctx: ctx, path: aggregated + "StreamAggregatedResources", forged: aggregated + "StreamAggregatedResources"}
			a.post(a.listeners()["relay"], "relayed")
			got := a.await(map[string]int{"relayed": 1})[0].headers
			if text := got.Get("authorization"); text != "Bearer "+nodeToken {
				t.Errorf("authorization is %q", text)
			}
			for _, name := range []string{"x-request-id", "x-forwarded-proto", "x-forwarded-for", "x-envoy-internal", "x-envoy-expected-rq-timeout-ms", "fairlead-token", "fairlead-origin"} {
				if got.Get(name) != "" {
					t.Errorf("%s: %s arrives", name, got.Get(name))
				}
			}
		})
	}
}
