// Command probe asks a URL once and exits with 0 if the answer is 200. It is the health
// check of container images that hold no shell.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// patience is below the timeout that container engines give a health check.
const patience = 4 * time.Second

func main() {
	ca := flag.String("ca", "", "file of the authority that signed the server's certificate, PEM; the system's by default")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: probe [--ca FILE] URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	err := probe(ctx, *ca, flag.Arg(0))
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

// probe returns nil for a 200; other answers are quoted. ca is a file, or "".
func probe(ctx context.Context, ca, url string) error {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s holds no certificate", ca)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: conf}} // no proxy: it asks its own container
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // the status says enough
	return fmt.Errorf("%s answers %s: %s", url, resp.Status, text)
}
