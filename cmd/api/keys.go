package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"fairlead/internal/seal"
)

// nobodyElse is the owner of files that stay their maker's.
const nobodyElse = -1

type keysCommand struct {
	API      string `name:"api-dir" required:"" type:"path" placeholder:"DIR" help:"Folder of the API servers: takes the public key and the key of versions."`
	XDS      string `name:"xds-dir" required:"" type:"path" placeholder:"DIR" help:"Folder of the xDS servers: takes the private key, which no API server may have."`
	APIOwner int    `name:"api-owner" default:"-1" placeholder:"UID" help:"User that the API servers run as: the folder and its keys become theirs. Needs root."`
	XDSOwner int    `name:"xds-owner" default:"-1" placeholder:"UID" help:"User that the xDS servers run as."`
}

// Run makes the keys. Where all of them are there it changes nothing.
func (c *keysCommand) Run() error {
	there, err := c.there()
	if err != nil {
		return err
	}
	if there {
		fmt.Println("the keys are there already: nothing is changed")
		return nil
	}
	if filepath.Clean(c.API) == filepath.Clean(c.XDS) {
		return errors.New("--api-dir and --xds-dir have to differ: who has the API's folder must not find the private key there")
	}
	keys, err := seal.Generate()
	if err != nil {
		return err
	}
	if err := seal.WriteKeys(c.API, c.XDS, keys); err != nil {
		return err
	}
	if err := errors.Join(own(c.API, c.APIOwner, seal.PublicFile, seal.VersionFile), own(c.XDS, c.XDSOwner, seal.PrivateFile)); err != nil {
		return err
	}
	fmt.Printf("API servers:  --seal-public-key %s --version-key %s\n", filepath.Join(c.API, seal.PublicFile), filepath.Join(c.API, seal.VersionFile))
	fmt.Printf("xDS servers:  --seal-private-key %s\n", filepath.Join(c.XDS, seal.PrivateFile))
	fmt.Println("Keep a copy of seal.key: without it no stored Secret can be read.")
	return nil
}

// there reports whether all keys are. Some of them are a mistake that WriteKeys tells of.
func (c *keysCommand) there() (bool, error) {
	for _, path := range []string{filepath.Join(c.API, seal.PublicFile), filepath.Join(c.API, seal.VersionFile), filepath.Join(c.XDS, seal.PrivateFile)} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("look for the keys: %w", err)
		}
	}
	return true, nil
}

// own gives the folder and files in it to a user, and closes the folder to all others.
func own(dir string, uid int, files ...string) error {
	if uid == nobodyElse {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs the x
		return fmt.Errorf("close the folder to others: %w", err)
	}
	for _, name := range append(files, ".") { // the folder last: before it is ours
		if err := os.Lchown(filepath.Join(dir, name), uid, uid); err != nil {
			return fmt.Errorf("give the files to the user %d, which needs root: %w", uid, err)
		}
	}
	return nil
}
