package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// link is a way to a server, as far as it was looked at. Checks of a node and of the API share it.
type link struct {
	addresses []string // as they are given
	tls       bool     // that is asked for
	ca        string   // PEM
	caFile    string
	sni, name string // name: what the certificate has to be for; "": it is not looked at
	alpn      []string
	rename    string // what to do about a name; "": what the bootstrap of a proxy takes
	trusting  string // where to give an authority

	reached string              // the address that answered
	chain   []*x509.Certificate // that it showed
	chosen  string              // of ALPN
}

const dialPatience = 3 * time.Second

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// checkDNS resolves the names.
func (l *link) checkDNS(ctx context.Context) Result {
	var good, bad []string
	for _, a := range l.addresses {
		host := hostOf(a)
		if isAddress(host) {
			good = append(good, host+" is an address")
			continue
		}
		found, err := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil {
			bad = append(bad, dnsWords(host, err))
			continue
		}
		good = append(good, host+" is "+strings.Join(found, ", "))
	}
	saw := strings.Join(append(bad, good...), "; ")
	const do = "correct the name, or the resolver of this machine (/etc/resolv.conf; in a container the one that it has)"
	switch {
	case len(good) == 0:
		return failed(saw, do)
	case len(bad) > 0:
		return warn(saw, do)
	}
	return ok(saw)
}

func dnsWords(host string, err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return "there is no name " + host
	}
	return host + " cannot be resolved: " + inner(err)
}

// inner is an error without what its caller knows already.
func inner(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	var of *url.Error
	switch {
	case errors.As(err, &dns):
		return dns.Err
	case errors.As(err, &op):
		return inner(op.Err)
	case errors.As(err, &of):
		return inner(of.Err)
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return err.Error()
}

// checkTCP connects.
func (l *link) checkTCP(ctx context.Context) Result {
	var bad []string
	for _, a := range l.addresses {
		conn, err := dial(ctx, a)
		if err != nil {
			bad = append(bad, tcpWords(a, err))
			continue
		}
		_ = conn.Close() // nothing was said
		if l.reached == "" {
			l.reached = a
		}
	}
	const do = "start the server, correct the address or the port, or open the firewall between: a refusal comes from the machine itself, silence from what is between"
	switch {
	case l.reached == "":
		return failed(strings.Join(bad, "; "), do)
	case len(bad) > 0:
		return warn(strings.Join(bad, "; ")+"; "+l.reached+" answers", do)
	}
	return ok(strings.Join(l.addresses, ", ") + " answers")
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, "tcp", address)
}

func tcpWords(address string, err error) string {
	var late net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return address + " refuses the connection: nothing listens there"
	case errors.As(err, &late) && late.Timeout():
		return address + " does not answer"
	}
	return address + ": " + inner(err)
}

// shake makes a handshake that believes any certificate: each thing that may be wrong with it is a check of its own. Nothing secret
// is sent on such a connection.
func (l *link) shake(ctx context.Context, alpn ...string) (*tls.Conn, error) {
	raw, err := dial(ctx, l.reached)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, ServerName: l.serverName(), NextProtos: alpn, MinVersion: tls.VersionTLS12}) //nolint:gosec // see above
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return conn, nil
}

func (l *link) serverName() string {
	switch {
	case l.sni != "":
		return l.sni
	case l.name != "":
		return l.name
	}
	return hostOf(l.reached)
}

// checkTLS sees whether both sides speak TLS, or neither does. what is where that is set.
func (l *link) checkTLS(ctx context.Context, what string) Result {
	conn, err := l.shake(ctx, l.alpn...)
	var plain tls.RecordHeaderError
	switch {
	case err == nil && !l.tls:
		_ = conn.Close()
		return failed(l.reached+" speaks TLS, and "+what+" asks for plaintext", "have the client use TLS, or give it the server's port for plaintext")
	case err == nil:
		state := conn.ConnectionState()
		l.chain, l.chosen = state.PeerCertificates, state.NegotiatedProtocol
		_ = conn.Close()
		return ok(tls.VersionName(state.Version) + ", certificate for " + namesOf(l.chain[0]))
	case !l.tls:
		return ok("plaintext, as " + what + " asks for")
	case errors.As(err, &plain), strings.Contains(err.Error(), "does not look like a TLS handshake"):
		return failed(l.reached+" speaks plaintext, and "+what+" asks for TLS", "start the server with --tls-cert and --tls-key, or have the client use plaintext where the way is trusted")
	}
	return failed(l.reached+": the TLS handshake fails: "+inner(err), "see the server's log: it may ask for a client certificate, for another version of TLS, or be something else that only listens there")
}

func namesOf(c *x509.Certificate) string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	if len(names) == 0 {
		return "no name"
	}
	return strings.Join(names, ", ")
}

const noTLS = "there is no TLS on this way"

// checkChain sees whether the certificate is of an authority that the client trusts. Its time is another check.
func (l *link) checkChain() Result {
	if !l.tls {
		return notChecked(noTLS)
	}
	roots, where, err := l.roots()
	if err != nil {
		return failed(err.Error(), "write the certificate of the authority that signed the server's into that file, PEM, readable by the client")
	}
	leaf, between := l.chain[0], x509.NewCertPool()
	for _, c := range l.chain[1:] {
		between.AddCert(c)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: leaf.NotBefore.Add(leaf.NotAfter.Sub(leaf.NotBefore) / 2)}); err != nil {
		var expired x509.CertificateInvalidError
		if errors.As(err, &expired) && expired.Reason == x509.Expired {
			return failed(fmt.Sprintf("a certificate of the chain ends before the server's own, of %q", leaf.Issuer.CommonName), "renew the certificate of the authority")
		}
		return failed(fmt.Sprintf("the certificate of %s, signed by %q, is of no authority in %s", l.reached, leaf.Issuer.CommonName, where),
			"give the client the authority's certificate"+l.trusting+", and have the server send its whole chain: the certificates between stand behind its own in --tls-cert")
	}
	return ok(fmt.Sprintf("signed by %q, which is in %s", leaf.Issuer.CommonName, where))
}

// roots are nil for the system's.
func (l *link) roots() (*x509.CertPool, string, error) {
	pem, where := []byte(l.ca), "the bootstrap"
	switch {
	case l.ca != "":
	case l.caFile == "":
		return nil, "the system's list", nil
	default:
		where = l.caFile
		var err error
		if pem, err = os.ReadFile(l.caFile); err != nil {
			return nil, where, fmt.Errorf("the file of trusted authorities cannot be read: %w", err)
		}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, where, fmt.Errorf("%s holds no certificate", where)
	}
	return pool, where, nil
}

func (l *link) checkName() Result {
	switch {
	case !l.tls:
		return notChecked(noTLS)
	case l.name == "":
		return warn("the client looks at no name: whoever has a certificate of the authority can stand in for the server", "have it check the server's name, as the bootstraps of \"fairlead bootstrap\" do")
	}
	if err := l.chain[0].VerifyHostname(l.name); err != nil {
		return failed(fmt.Sprintf("the certificate is for %s, and the client wants %s", namesOf(l.chain[0]), l.name),
			"make a certificate for that name, or "+cmp.Or(l.rename, "name the one of the certificate (fairlead bootstrap --server-name)"))
	}
	return ok("the certificate is for " + l.name)
}

// endsSoon is how long before its end a certificate, or a token, is told of.
const endsSoon = 14 * 24 * time.Hour

func (l *link) checkTime(now time.Time) Result {
	if !l.tls {
		return notChecked(noTLS)
	}
	first := l.chain[0]
	for _, c := range l.chain {
		if now.Before(c.NotBefore) {
			return failed("the time of the certificate for "+namesOf(c)+" begins at "+stamp(c.NotBefore)+", and it is "+stamp(now)+" here",
				"set this machine's clock if it is behind, else wait, or put the certificate before back into place")
		}
		if c.NotAfter.Before(first.NotAfter) {
			first = c
		}
	}
	left := first.NotAfter.Sub(now)
	switch do := "put a new certificate into --tls-cert and --tls-key of the server: no restart is needed"; {
	case left <= 0:
		return failed("the certificate for "+namesOf(first)+" expired at "+stamp(first.NotAfter)+", and it is "+stamp(now)+" here", do)
	case left < endsSoon:
		return warn("the certificate expires at "+stamp(first.NotAfter), do)
	}
	return ok("the certificate is good until " + stamp(first.NotAfter))
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// clockSkew is how far two clocks may be apart: tokens and certificates begin and end by them.
const clockSkew = time.Minute

// checkClock compares with the Date of an answer.
func checkClock(date string, now time.Time, whose string) Result {
	at, err := http.ParseTime(date)
	if err != nil {
		return notChecked("the answer has no Date")
	}
	return judgeSkew(at.Sub(now.Truncate(time.Second)), whose)
}

func judgeSkew(skew time.Duration, whose string) Result {
	words, apart := "ahead of", skew
	if skew < 0 {
		words, apart = "behind", -skew
	}
	saw := fmt.Sprintf("%s clock is %s %s this machine's", whose, apart.Round(time.Second), words)
	if apart >= clockSkew {
		return failed(saw, "set the clock that is wrong (NTP): tokens, certificates and leases begin and end by it")
	}
	return ok(saw)
}

// proxyFor is the proxy that the environment has for a URL, without its password; nil: none.
func proxyFor(env func(string) string, to *url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := env(n); v != "" {
				return v
			}
		}
		return ""
	}
	conf := httpproxy.Config{HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"), NoProxy: first("NO_PROXY", "no_proxy")}
	p, err := conf.ProxyFunc()(to)
	if err != nil {
		return nil, errors.New("the proxy of the environment is no URL")
	}
	return p, nil
}

// proxyAddress is where it listens.
func proxyAddress(p *url.URL) string {
	if p.Port() != "" {
		return p.Host
	}
	return net.JoinHostPort(p.Hostname(), map[string]string{"https": "443", "socks5": "1080"}[p.Scheme]+map[bool]string{true: "80"}[p.Scheme == "http"])
}
