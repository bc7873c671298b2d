package e2e

import (
	"net/http"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/seal"
	"fairlead/test/world"
)

// TestASecretSealedWithAnotherKeyIsNotDelivered: an API server that has the public key of another pair seals what nobody can open. The proxy goes on with the certificate
// that it has, the receipt says why it has not the new one, and the same write by an API server with the right key brings it.
func TestASecretSealedWithAnotherKeyIsNotDelivered(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		address := world.FreePort(t)
		cert, key := world.Certificate(t)
		tls := world.HTTPListener{Name: "tls", Address: address, Routes: world.RDS("r", world.ADS), TLS: presents("server", world.ADS)}
		r.AwaitState(r.Apply(world.Together(secret("server", cert, key), tls.Resource())), "delivered")
		serves := func(what string, cert []byte) {
			t.Helper()
			c := trusting(t, cert)
			promptly(t, what, func() bool {
				resp, err := c.Get("https://" + address)
				if err != nil {
					return false
				}
				_ = resp.Body.Close()
				return resp.StatusCode == http.StatusOK
			})
		}
		serves("served with the first certificate", cert)

		world.Run(t, "api", "keys", "--api-dir", r.Path("other", "api"), "--xds-dir", r.Path("other", "xds"))
		wrong := r.Start("api", "serve", "--listen", world.AnyPort, "--health-listen", world.AnyPort, "--database-url", r.DB.App,
			"--seal-public-key", r.Path("other", "api", seal.PublicFile), "--version-key", r.Path("keys", "api", seal.VersionFile))
		other := *r.World
		other.API = "http://" + wrong.Logged("the port is open", "address")
		world.Eventually(t, world.Soon, "/readyz does not tell of the key", func() bool {
			code, body := world.Get(other.API + "/readyz")
			return code == http.StatusServiceUnavailable && strings.Contains(body, "no xDS server can open them")
		})
		other.REST = other.As(r.Token)
		next, nextKey := world.Certificate(t)
		revision := other.Apply(world.Together(secret("server", next, nextKey)))
		var receipt *client.Receipt
		world.Eventually(t, world.Soon, "the receipt does not say that the secret is sealed", func() bool {
			receipt = r.Receipt(revision)
			return receipt.Counts.Withheld == 1
		})
		n := receipt.Nodes[0]
		if receipt.State != "pending" || n.Withheld == nil || (*n.Withheld)[0].Reason != client.WithheldReasonSealed {
			t.Errorf("%s", world.AsJSON(receipt))
		}
		serves("served with the first certificate still", cert)
		r.AwaitACKed(r.Put(world.Cluster("a", "2s")), 1) // nothing of it is withheld

		again := r.Apply(world.Together(secret("server", next, nextKey)))
		if again <= revision {
			t.Fatalf("written again it is revision %d, after %d", again, revision)
		}
		serves("served with the next certificate", next)
		r.AwaitACKed(again, 1)
		r.AwaitACKed(revision, 1)
	})
}
