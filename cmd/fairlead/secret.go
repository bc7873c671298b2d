package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"fairlead/internal/fleet"
)

// secretCommand is "fairlead secret".
type secretCommand struct {
	TLS     secretTLSCommand     `cmd:"" name:"tls" help:"Write a certificate with its private key, or with --ca authorities that certificates are checked against."`
	Generic secretGenericCommand `cmd:"" help:"Write any text, such as a password."`
}

// secretWrite is what all of them take. What a stored secret has beside its body stays.
type secretWrite struct {
	Connection connection `embed:""`
	Writing    writing    `embed:""`

	Name    string            `arg:"" help:"The secret's name."`
	Variant string            `placeholder:"VARIANT" help:"The variant, which must be there; without it, the default one."`
	Label   map[string]string `placeholder:"KEY=VALUE" help:"Labels of a new secret, or in the place of those that it has."`
}

// secretTLSCommand is "fairlead secret tls".
type secretTLSCommand struct {
	Write secretWrite `embed:""`

	Cert string `placeholder:"FILE" help:"The certificate with its chain, PEM."`
	Key  string `placeholder:"FILE" help:"The certificate's private key, PEM."`
	CA   string `name:"ca" placeholder:"FILE" help:"Authorities, PEM: a secret of its own, for validation_context_sds_secret_config."`
}

// Run writes the secret.
func (c *secretTLSCommand) Run(ctx context.Context, sh *shell) error {
	switch {
	case c.CA != "" && (c.Cert != "" || c.Key != ""):
		return usageError("a secret holds a certificate or authorities: write --ca under a name of its own")
	case c.CA != "":
		ca, err := openSource(c.CA)
		if err != nil {
			return err
		}
		return c.Write.write(ctx, sh, "validation_context", map[string]any{"trusted_ca": inline(ca)})
	case c.Cert == "" || c.Key == "":
		return usageError("give --cert and --key, or --ca")
	}
	cert, err := openSource(c.Cert)
	if err != nil {
		return err
	}
	key, err := openSource(c.Key)
	if err != nil {
		return err
	}
	if _, err := tls.X509KeyPair(cert.data, key.data); err != nil {
		return fmt.Errorf("%s and %s are not a certificate and its private key, both as PEM without a password", c.Cert, c.Key) // what the library says may hold of the key
	}
	return c.Write.write(ctx, sh, "tls_certificate", map[string]any{"certificate_chain": inline(cert), "private_key": inline(key)})
}

// secretGenericCommand is "fairlead secret generic".
type secretGenericCommand struct {
	Write secretWrite `embed:""`

	File string `required:"" placeholder:"FILE" help:"What the secret holds, to the byte; - for the standard input."`
}

// Run writes the secret.
func (c *secretGenericCommand) Run(ctx context.Context, sh *shell) error {
	sources, err := (&files{File: []string{c.File}}).sources(sh.in)
	if err != nil {
		return err
	}
	if len(sources) != 1 {
		return usageError("--file is one file")
	}
	return c.Write.write(ctx, sh, "generic_secret", map[string]any{"secret": inline(sources[0])})
}

// inline is a data source that holds the content itself.
func inline(s source) map[string]any { return map[string]any{"inline_bytes": s.data} }

// write sends the secret as an apply, with what stands beside the body of the one that is stored.
func (c *secretWrite) write(ctx context.Context, sh *shell, kind string, value any) error {
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	doc := map[string]any{
		"type": fleet.Secret.Slug(), "name": c.Name, "body": map[string]any{"name": c.Name, kind: value}, "revision": 0,
	}
	if c.Variant != "" {
		doc["variant"] = c.Variant
	}
	raw, err := s.resource(ctx, fleet.Secret.Slug(), c.Name, c.Variant)
	var p *problem
	switch {
	case errors.As(err, &p) && p.Status == http.StatusNotFound && p.Code == "not_found" && c.Variant == "":
	case err != nil:
		return err
	default:
		var stored map[string]any
		if err := json.Unmarshal(raw, &stored); err != nil {
			return err
		}
		for _, field := range []string{"selector", "priority", "ttl", "labels", "description", "revision"} {
			if v, there := stored[field]; there {
				doc[field] = v
			}
		}
	}
	if len(c.Label) > 0 {
		doc["labels"] = c.Label
	}
	body := map[string]any{"resources": []any{doc}}
	members{message: c.Writing.Message, expected: c.Writing.ExpectedRevision}.into(body)
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.Writing.write(ctx, s, nil, func(ctx context.Context, key, confirm string) (*http.Response, error) {
		return s.apply(ctx, key, confirm, sent)
	})
}
