package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"fairlead/cmd/internal/doctor"
)

// supportBundleCommand is "fairlead support-bundle".
type supportBundleCommand struct {
	File       string      `arg:"" optional:"" type:"path" help:"The file, which must not be there yet; fairlead-support-TIME.tar.gz in this directory by default."`
	Connection connection  `embed:""`
	Looks      doctorLooks `embed:""`
	Metrics    []string    `placeholder:"URL" help:"/metrics of a server, such as http://127.0.0.1:18001/metrics. Repeatable."`

	JSON bool `name:"json" help:"Print as JSON what the file has, and what is left out."`
}

// Help stands over the flags.
func (*supportBundleCommand) Help() string {
	return `It writes what somebody who helps asks for: what "fairlead doctor" saw, versions, the fleet's state, nodes, findings, the newest
receipt, events, metrics. It has no body of a resource, no token, no key and no password. Names of nodes, resources and
people are in it, and what Envoy said: read it before you send it.`
}

// Run writes the file.
func (c *supportBundleCommand) Run(ctx context.Context, sh *shell) (err error) {
	conf, err := c.Looks.config(sh, c.Connection)
	if err != nil {
		return err
	}
	path := c.File
	if path == "" {
		path = filepath.Join(sh.dir, "fairlead-support-"+sh.now().UTC().Format("20060102T150405Z")+".tar.gz")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	v := builtNow()
	has, err := doctor.Bundle(ctx, f, doctor.BundleConfig{
		Config: conf, Metrics: c.Metrics,
		Versions: map[string]string{"fairlead": v.version, "commit": v.commit, "go": v.golang, "system": runtime.GOOS + "/" + runtime.GOARCH},
	})
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // half a file is of no use
		return err
	}
	if c.JSON {
		raw, err := json.Marshal(map[string]any{"path": path, "files": has.Files, "left_out": has.LeftOut})
		if err != nil {
			return err
		}
		return (&session{shell: sh}).printJSON(raw)
	}
	for _, l := range has.LeftOut {
		fmt.Fprintf(sh.err, "left out: %s: %s\n", plain(l.File), plain(l.Why))
	}
	fmt.Fprintf(sh.out, "%s has %d files: read it before you send it\n", plain(path), len(has.Files))
	return nil
}
