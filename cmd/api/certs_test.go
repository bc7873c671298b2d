package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// verified is the leaf of a folder, checked as a client of the name would.
func verified(t *testing.T, dir, name string, at time.Time) error {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: at})
	return err
}

func certs(t *testing.T, dir string, to ...string) {
	t.Helper()
	c := certsCommand{Authority: filepath.Join(dir, "authority")}
	for _, name := range to {
		c.For = append(c.For, filepath.Join(dir, name))
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
}

func TestCertificatesOfOneAuthority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	receivers := []string{"api:-1:api,localhost,127.0.0.1,::1", "xds:-1:xds", "proxy:-1", "operator:-1:"}
	if err := os.Mkdir(filepath.Join(dir, "authority"), 0o755); err != nil { //nolint:gosec // as a new volume is
		t.Fatal(err)
	}
	certs(t, dir, receivers...)
	if info, err := os.Stat(filepath.Join(dir, "authority")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the authority's folder: %v (%v)", info.Mode(), err)
	}
	now := time.Now()
	for name, good := range map[string]bool{"api": true, "localhost": true, "127.0.0.1": true, "::1": true, "xds": false, "10.0.0.1": false} {
		if err := verified(t, filepath.Join(dir, "api"), name, now); (err == nil) != good {
			t.Errorf("the API's certificate as %s: %v", name, err)
		}
	}
	if err := verified(t, filepath.Join(dir, "xds"), "xds", now.Add(certificateLife+time.Hour)); err == nil {
		t.Error("a certificate does not end")
	}
	for folder, want := range map[string]string{"proxy": "ca.crt", "operator": "ca.crt", "api": "ca.crt tls.crt tls.key", "authority": "ca.crt ca.key"} {
		files, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); strings.HasSuffix(f.Name(), ".key") != (mode == 0o400) {
				t.Errorf("%s/%s has the mode %o", folder, f.Name(), mode)
			}
			names = append(names, f.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s holds %s, want %s", folder, got, want)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "xds", "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	certs(t, dir, receivers...) // the authority stays, the certificates are new
	after, err := os.ReadFile(filepath.Join(dir, "xds", "tls.crt"))
	if err != nil || string(after) == string(before) {
		t.Errorf("the certificate is the old one (%v)", err)
	}
	if err := verified(t, filepath.Join(dir, "xds"), "xds", now); err != nil {
		t.Error(err)
	}
}

func TestWhichCertificatesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, to := range []string{"", "/x", "/x:", "/x:me:api", ":1:api", "/x:-2:api"} {
		if err := (&certsCommand{Authority: dir, For: []string{to}}).Run(); err == nil || !strings.HasPrefix(err.Error(), "--for "+to) {
			t.Errorf("--for %q: %v", to, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Error("a refused command made an authority")
	}
	if _, err := makeAuthority(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := openAuthority(dir, time.Now().Add(authorityLife-certificateLife+time.Hour)); err == nil || !strings.Contains(err.Error(), "expires at") {
		t.Errorf("an authority that ends before what it signs: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "ca.key")); err != nil {
		t.Fatal(err)
	}
	if _, err := openAuthority(dir, time.Now()); err == nil { // a new one would be another
		t.Error("half an authority is no error")
	}
}

func TestKeysAreApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := keysCommand{API: filepath.Join(dir, "api"), XDS: filepath.Join(dir, "xds"), APIOwner: nobodyElse, XDSOwner: nobodyElse}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(c.XDS, "seal.key"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(c.API, "seal.key")); err == nil {
		t.Error("the API's folder holds the private key")
	}
	if err := c.Run(); err != nil { // once more changes nothing
		t.Error(err)
	}
	if after, err := os.ReadFile(filepath.Join(c.XDS, "seal.key")); err != nil || string(after) != string(before) {
		t.Errorf("the private key was replaced (%v)", err)
	}
	if err := os.Remove(filepath.Join(c.API, "version.key")); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "never replaced") {
		t.Errorf("some of the keys are there: %v", err)
	}
	same := keysCommand{API: filepath.Join(dir, "new"), XDS: filepath.Join(dir, "new") + "/", APIOwner: nobodyElse, XDSOwner: nobodyElse}
	if err := same.Run(); err == nil {
		t.Error("one folder for both is no error")
	}
}
