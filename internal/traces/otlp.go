package traces

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"

	"fairlead/internal/fleet"
)

// OTLP is an exporter to the collector that the environment names, as OpenTelemetry has it (OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _CERTIFICATE
// and so on), over HTTP. What it would take for something else, or would send in the clear, is refused.
func OTLP(ctx context.Context) (Exporter, error) {
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	e, err := otlptracehttp.New(ctx) // it connects when there is something to send
	if err != nil {
		return nil, fmt.Errorf("use the collector of OTEL_EXPORTER_OTLP_ENDPOINT: %w: %w", fleet.ErrInvalid, err)
	}
	return e, nil
}

// setting reads a variable, of traces alone or of all signals, and tells which it was.
func setting(what string) (name, value string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + what, "OTEL_EXPORTER_OTLP_" + what} {
		if v := os.Getenv(name); v != "" {
			return name, v
		}
	}
	return "OTEL_EXPORTER_OTLP_" + what, ""
}

func checkEnvironment() error {
	if name, v := setting("PROTOCOL"); cmp.Or(v, "http/protobuf") != "http/protobuf" {
		return fmt.Errorf("%s is %q: traces are sent as http/protobuf alone, to port 4318 of most collectors: %w", name, v, fleet.ErrInvalid)
	}
	name, v := setting("ENDPOINT")
	u, err := url.Parse(cmp.Or(v, "http://localhost:4318"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("%s is no address of a collector: give one such as https://collector.example.com:4318, without a password: %w", name, fleet.ErrInvalid)
	}
	if header, h := setting("HEADERS"); h != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return fmt.Errorf("%s would be sent in the clear, and may hold a token: give %s an https address: %w", header, name, fleet.ErrInvalid)
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
