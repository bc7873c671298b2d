package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"fairlead/internal/fleet"
)

// refusedName is what some nodes refuse, in every third version.
const refusedName = "sometimes-refused"

// proxy is a simulated node that has all clusters of its fleet. It moves from server to server, and is sometimes started again with nothing.
type proxy struct {
	node
	protocol  string // "delta", "SotW", "REST"
	token     string
	addresses []string
	roaming   context.Context //nolint:containedctx // while it lasts it leaves servers by itself
	refuses   bool
	rng       *rand.Rand
	h         *history

	versions map[string]string // delta: of what it has
	version  string            // of the set that it has
	server   string            // at which it is
}

func (c *proxy) refusesAny(contents []content) bool {
	return c.refuses && slices.ContainsFunc(contents, refusable)
}

func refusable(c content) bool { return c.Name == refusedName && c.Number != 0 && c.Number%3 == 0 }

// run keeps connected until ctx ends.
func (c *proxy) run(ctx context.Context) {
	c.h.join(c.node)
	c.versions = map[string]string{}
	kinds := map[string]func(context.Context, string) error{"delta": c.delta, "SotW": c.sotw, "REST": c.poll}
	for try := c.rng.IntN(len(c.addresses)); ; {
		life := 2*time.Second + time.Duration(c.rng.ExpFloat64()*float64(20*time.Second))
		stay, cancel := context.WithCancel(ctx)
		leave := time.AfterFunc(life, func() {
			if c.roaming.Err() == nil {
				cancel()
			}
		})
		c.server = fmt.Sprint("xds ", try%len(c.addresses))
		_ = kinds[c.protocol](stay, c.addresses[try%len(c.addresses)]) // whatever ended it, it comes back
		leave.Stop()
		cancel()
		if ctx.Err() != nil {
			return
		}
		if c.roaming.Err() == nil && c.protocol != "REST" && c.rng.IntN(4) == 0 { // started again
			c.versions, c.version = map[string]string{}, ""
			c.h.forget(c.node)
		}
		try += c.rng.IntN(len(c.addresses))
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(100+c.rng.IntN(400)) * time.Millisecond):
		}
	}
}

func (c *proxy) stream(ctx context.Context, address string, do func(context.Context, discoveryv3.AggregatedDiscoveryServiceClient) error) error {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig())
	if err != nil {
		return err
	}
	defer conn.Close()
	return do(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token), discoveryv3.NewAggregatedDiscoveryServiceClient(conn))
}

func (c *proxy) about() *corev3.Node {
	return &corev3.Node{Id: c.ID, Cluster: "chaos", UserAgentName: "chaos"}
}

var noThanks = &rpcstatus.Status{Code: 3, Message: "Error adding/updating cluster(s) " + refusedName + ": the proxy cannot use it"}

func (c *proxy) delta(ctx context.Context, address string) error {
	return c.stream(ctx, address, func(ctx context.Context, ads discoveryv3.AggregatedDiscoveryServiceClient) error {
		s, err := ads.DeltaAggregatedResources(ctx)
		if err != nil {
			return err
		}
		ask := &discoveryv3.DeltaDiscoveryRequest{Node: c.about(), TypeUrl: fleet.Cluster.URL(), InitialResourceVersions: maps.Clone(c.versions)}
		for {
			if err := s.Send(ask); err != nil {
				return err
			}
			r, err := s.Recv()
			if err != nil {
				return err
			}
			var contents []content
			for _, res := range r.GetResources() {
				contents = append(contents, read(res.GetResource().GetValue())...)
			}
			for _, name := range r.GetRemovedResources() {
				contents = append(contents, content{c.Tenant, name, 0})
			}
			ask = &discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()}
			if !c.take(contents) {
				ask.ErrorDetail = noThanks
				continue
			}
			for _, res := range r.GetResources() {
				c.versions[res.GetName()] = res.GetVersion()
			}
			for _, name := range r.GetRemovedResources() {
				delete(c.versions, name)
			}
		}
	})
}

func (c *proxy) sotw(ctx context.Context, address string) error {
	return c.stream(ctx, address, func(ctx context.Context, ads discoveryv3.AggregatedDiscoveryServiceClient) error {
		s, err := ads.StreamAggregatedResources(ctx)
		if err != nil {
			return err
		}
		ask := &discoveryv3.DiscoveryRequest{Node: c.about(), TypeUrl: fleet.Cluster.URL(), VersionInfo: c.version}
		for {
			if err := s.Send(ask); err != nil {
				return err
			}
			r, err := s.Recv()
			if err != nil {
				return err
			}
			var contents []content
			for _, res := range r.GetResources() {
				contents = append(contents, read(res.GetValue())...)
			}
			ask = &discoveryv3.DiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce(), VersionInfo: c.version}
			if !c.takeSet(contents) {
				ask.ErrorDetail = noThanks
				continue
			}
			c.version = r.GetVersionInfo()
			ask.VersionInfo = c.version
		}
	})
}

// poll asks over REST, where nothing is ever refused.
func (c *proxy) poll(ctx context.Context, address string) error {
	web := http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	for {
		ask, err := json.Marshal(map[string]any{"node": map[string]string{"id": c.ID}, "version_info": c.version})
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v3/discovery:clusters?wait=5", bytes.NewReader(ask))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		resp, err := web.Do(r)
		if err != nil {
			c.h.client(c.node, lost, c.server, nil)
			return err
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch {
		case err != nil:
			c.h.client(c.node, lost, c.server, nil)
			return err
		case resp.StatusCode == http.StatusNotModified:
			continue
		case resp.StatusCode != http.StatusOK:
			return fmt.Errorf("polled: %d %s", resp.StatusCode, b)
		}
		var answer struct {
			Version string `json:"version_info"`
		}
		if err := json.Unmarshal(b, &answer); err != nil {
			return err
		}
		c.takeSet(read(b))
		c.version = answer.Version
	}
}

// takeSet takes all that there is: what is not in it is gone.
func (c *proxy) takeSet(contents []content) bool {
	return c.take(c.h.whole(c.node, contents))
}

// take notes what came, and whether it is taken.
func (c *proxy) take(contents []content) bool {
	c.h.client(c.node, received, c.server, contents)
	if c.refusesAny(contents) {
		c.h.client(c.node, nacked, c.server, contents)
		return false
	}
	c.h.client(c.node, acked, c.server, contents)
	return true
}
