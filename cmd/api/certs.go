package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

type certsCommand struct {
	Authority string   `name:"authority" required:"" type:"path" placeholder:"DIR" help:"Folder of the authority: its key and certificate, which are made where they are not there. No server needs it."`
	For       []string `name:"for" required:"" sep:"none" placeholder:"DIR:UID[:NAMES]" help:"Folder that takes the authority's certificate (ca.crt) and, where there are names, a new certificate for them with its key (tls.crt, tls.key). Names are hosts and IP addresses, with commas in between; UID is the user who owns all of it, -1 for who makes it."`
}

// Run signs anew for every folder. Servers read their files anew by themselves; Postgres wants a reload.
func (c *certsCommand) Run() error {
	var receivers []receiver
	for _, text := range c.For {
		r, err := parseReceiver(text)
		if err != nil {
			return err
		}
		receivers = append(receivers, r)
	}
	a, err := openAuthority(c.Authority, time.Now())
	if err != nil {
		return err
	}
	for _, r := range receivers {
		if err := r.receive(a, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// receiver is a folder for one server or client.
type receiver struct {
	dir   string
	uid   int
	names []string // none: the authority's certificate alone
}

func parseReceiver(text string) (receiver, error) {
	dir, rest, _ := strings.Cut(text, ":")
	owner, names, _ := strings.Cut(rest, ":")
	uid, err := strconv.Atoi(owner)
	if dir == "" || err != nil || uid < nobodyElse {
		return receiver{}, fmt.Errorf("--for %s has to be a folder, the number of a user and names, with colons in between: /tls/api:65532:api.example.com,10.0.0.1", text)
	}
	r := receiver{dir: dir, uid: uid}
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			r.names = append(r.names, name)
		}
	}
	return r, nil
}

// receive writes the files. The key goes before the certificate: a server that reads in between finds a pair that does
// not match, keeps the one that it has and reads again.
func (r receiver) receive(a *authority, now time.Time) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of a certificate: %w", err)
	}
	files := []string{"ca.crt"}
	err := replace(filepath.Join(r.dir, "ca.crt"), a.pem, 0o444, r.uid)
	if len(r.names) > 0 {
		chain, key, ends, errSign := a.sign(r.names, now)
		if errSign != nil {
			return errSign
		}
		files = append(files, "tls.key", "tls.crt")
		err = errors.Join(err, replace(filepath.Join(r.dir, "tls.key"), key, 0o400, r.uid), replace(filepath.Join(r.dir, "tls.crt"), chain, 0o444, r.uid))
		defer fmt.Printf("%s: a certificate for %s, which expires at %s\n", r.dir, strings.Join(r.names, ", "), ends.UTC().Format(time.RFC3339))
	}
	return errors.Join(err, own(r.dir, r.uid, files...))
}

// replace writes a file at once: who reads it finds the old or the new.
func replace(path string, text []byte, mode os.FileMode, uid int) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // where it was not renamed
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode))
	if uid != nobodyElse {
		err = errors.Join(err, f.Chown(uid, uid))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
