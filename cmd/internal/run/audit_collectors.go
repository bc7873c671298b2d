package run

import (
	"fmt"
	"os"

	"fairlead/internal/fleet"
	"fairlead/internal/forward"
)

// AuditCollectors says where the audit of all tenants goes beside the database. It is the operator's alone: no tenant names an address that a server calls.
type AuditCollectors struct {
	AuditWebhook        string `name:"audit-webhook" env:"FAIRLEAD_AUDIT_WEBHOOK" placeholder:"URL" help:"Where the audit is posted to, as signed webhooks: https://, or http:// on this machine (docs/audit.md)."`
	AuditWebhookKeyFile string `name:"audit-webhook-key-file" env:"FAIRLEAD_AUDIT_WEBHOOK_KEY_FILE" type:"path" placeholder:"FILE" help:"The key that signs them: one line of base64, with or without whsec_ before it."`
	AuditSyslog         string `name:"audit-syslog" env:"FAIRLEAD_AUDIT_SYSLOG" placeholder:"URL" help:"Where the audit goes as syslog: tcp+tls://HOST:PORT, or tcp://HOST:PORT on this machine."`
}

// sinks checks what is asked for.
func (c AuditCollectors) sinks() (out []sink, err error) {
	switch {
	case c.AuditWebhook == "" && c.AuditWebhookKeyFile != "":
		return nil, fmt.Errorf("--audit-webhook-key-file without --audit-webhook: name the address, or leave the key out: %w", fleet.ErrInvalid)
	case c.AuditWebhook != "" && c.AuditWebhookKeyFile == "":
		return nil, fmt.Errorf("--audit-webhook without --audit-webhook-key-file: nobody could tell that a webhook is ours; write a key with \"openssl rand -base64 32\": %w", fleet.ErrInvalid)
	}
	if c.AuditWebhook != "" {
		secret, err := readSecret(c.AuditWebhookKeyFile)
		if err != nil {
			return nil, fmt.Errorf("--audit-webhook-key-file: %w", err)
		}
		w, err := forward.NewWebhook(forward.WebhookConfig{URL: c.AuditWebhook, Secret: secret})
		if err != nil {
			return nil, fmt.Errorf("--audit-webhook: %w", err)
		}
		out = append(out, w)
	}
	if c.AuditSyslog != "" {
		host, _ := os.Hostname()
		s, err := forward.NewSyslog(forward.SyslogConfig{URL: c.AuditSyslog, Host: host})
		if err != nil {
			return nil, fmt.Errorf("--audit-syslog: %w", err)
		}
		out = append(out, s)
	}
	return out, nil
}

// readSecret reads a key file that nobody else may use.
func readSecret(path string) ([]byte, error) {
	text, err := readPrivate(path, 1024, "make a new key")
	if err != nil {
		return nil, err
	}
	secret, err := forward.ParseSecret(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secret, nil
}
