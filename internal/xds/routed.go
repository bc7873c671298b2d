package xds

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"google.golang.org/grpc/metadata"

	"fairlead/internal/fleet"
)

// routers are headers that no xDS client sends by itself: who routes a request adds them, or passes them on.
// x-forwarded-for and x-envoy-internal are not here: an Envoy may add them to its own streams.
var routers = []string{
	"x-request-id", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "x-forwarded-client-cert", "x-real-ip", "forwarded", "via", "cookie",
	"x-envoy-expected-rq-timeout-ms", "x-envoy-attempt-count", "x-envoy-original-path", "x-envoy-original-host", "x-envoy-decorator-operation", "x-envoy-external-address",
}

// mirrored ends the authority of a copy of a request that an Envoy mirrors.
const mirrored = "-shadow"

// routedBy is the header by which a call can be told to have been routed, as it stands there; "" if it has none.
func routedBy(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, name := range routers {
		if len(md[name]) > 0 {
			return name
		}
	}
	if slices.ContainsFunc(md[":authority"], func(host string) bool {
		name, _, _ := strings.Cut(host, ":")
		return strings.HasSuffix(name, mirrored)
	}) {
		return ":authority"
	}
	return ""
}

// relayed reports whether a routed call may be a gRPC client's that came through a relay: these are routed by design, and
// relays of older versions say so.
func relayed(ctx context.Context, method string) bool {
	agent := metadata.ValueFromIncomingContext(ctx, "user-agent")
	return len(agent) == 1 && strings.HasPrefix(agent[0], "grpc-") && strings.HasPrefix(method, "/envoy.service.discovery.v3.AggregatedDiscoveryService/")
}

// relayTypes are what gRPC clients ask for.
var relayTypes = []fleet.Type{fleet.Listener, fleet.Route, fleet.Cluster, fleet.Endpoint}

// admitRouted refuses a call that speaks for the proxy that routed it (T46): the credential is not its own. What a router adds can be left
// out by who configures it, so this finds the careless, and the guard rules and the bootstrap do the rest. only: it is let in
// for the types of a gRPC client alone.
func (s *Server) admitRouted(ctx context.Context, id Identity, method string) (only bool, err error) {
	if s.cfg.AllowProxied {
		return false, nil
	}
	by := routedBy(ctx)
	switch {
	case by == "":
		return false, nil
	case relayed(ctx, method):
		return true, nil
	}
	if tell := s.cfg.Denied; tell != nil {
		tell(id, fleet.DeniedRouted, "", remote(ctx), "")
	}
	s.say(slog.LevelWarn, addressOf(ctx), "a call was refused: it came through a proxy, which has lent it its credential", slog.String("header", by),
		slog.Any("tenant", id.Key.Tenant), slog.Any("fleet", id.Key.Fleet), slog.Any("credential", id.Credential))
	return false, errRouted(by)
}

func errRouted(by string) error {
	return fmt.Errorf("the call has the header %s, which no xDS client sends: a proxy routed the call and lent it its credential. Route nothing to the cluster of the proxy's bootstrap; "+
		"where a load balancer stands before this server, start it with --allow-proxied: %w", by, fleet.ErrForbidden)
}

// checkRelayed refuses to a call that admitRouted let in what no gRPC client asks for.
func (st *stream) checkRelayed(t fleet.Type) error {
	if !st.relayed || slices.Contains(relayTypes, t) {
		return nil
	}
	st.deny(fleet.DeniedRouted, "")
	return errRouted(routedBy(st.ctx))
}
