package main

import (
	"fmt"
	"path/filepath"

	"fairlead/internal/seal"
)

type keysCommand struct {
	Dir string `name:"dir" required:"" type:"path" placeholder:"DIR" help:"Folder that takes the key files; none of them may exist."`
}

// Run makes the keys.
func (c *keysCommand) Run() error {
	keys, err := seal.Generate()
	if err != nil {
		return err
	}
	if err := seal.WriteKeys(c.Dir, keys); err != nil {
		return err
	}
	fmt.Printf("API servers:  --seal-public-key %s --version-key %s\n", filepath.Join(c.Dir, seal.PublicFile), filepath.Join(c.Dir, seal.VersionFile))
	fmt.Printf("xDS servers:  --seal-private-key %s\n", filepath.Join(c.Dir, seal.PrivateFile))
	fmt.Println("Keep a copy of seal.key: without it no stored Secret can be read.")
	return nil
}
