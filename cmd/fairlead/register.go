package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/childproc"
)

const (
	// lastCalls is how long the calls may take that are made after this program was told to stop.
	lastCalls = 10 * time.Second
	// callAgain is how long is waited after a call that failed.
	callAgain = time.Second
)

// endpointsRegisterCommand is "fairlead endpoints register".
type endpointsRegisterCommand struct {
	Connection connection `embed:""`
	endpointFlags
	Cluster string        `required:"" help:"The name of the cluster's endpoints: its service_name, or its own."`
	Address string        `required:"" help:"IP:PORT, [IPv6]:PORT or unix:/PATH, as the proxies reach it."`
	Lease   time.Duration `default:"30s" help:"For how long it stays without a sign of this program, 5s to 24h. It is renewed at a third of it."`
	Drain   time.Duration `default:"5s" help:"When this program is told to stop: for how long the endpoint gets no new requests before the program is told to."`
	Ready   bool          `help:"Register when the address takes connections."`
	Command []string      `arg:"" optional:"" passthrough:"" placeholder:"-- COMMAND" help:"A program to run. Its exit status is that of this one."`
}

// Run registers, renews, and takes the endpoint away at the end.
func (c *endpointsRegisterCommand) Run(ctx context.Context, sh *shell) error {
	put, err := c.put(c.Address)
	if err == nil {
		err = checkLease(c.Lease)
	}
	switch {
	case err != nil:
		return err
	case c.Drain < 0 || c.Drain > time.Hour:
		return usageError("--drain: give a time up to 1h")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	child, err := startChild(sh, c.Command)
	if err != nil {
		return err
	}
	r := &registration{session: s, lease: leaseHolder{session: s, ttl: c.Lease}, cluster: c.Cluster, put: put, child: child, drain: c.Drain}
	err = r.run(ctx, c.Ready)
	return r.end(ctx, err)
}

// checkLease checks a time that the API takes.
func checkLease(d time.Duration) error {
	if d < 5*time.Second || d > 24*time.Hour || d%time.Second != 0 {
		return usageError("--lease: give whole seconds, from 5s to 24h")
	}
	return nil
}

// startChild starts the program that is to be registered; nil: there is none.
func startChild(sh *shell, command []string) (*childproc.Process, error) {
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return nil, nil //nolint:nilnil // said above
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, usageError(fmt.Sprintf("there is no program %s", command[0]))
	}
	return childproc.Start(childproc.Spec{Path: path, Args: command[1:], Env: withoutTokens(os.Environ()), Stdout: sh.out, Stderr: sh.err})
}

// withoutTokens leaves out what is this program's alone.
func withoutTokens(env []string) (out []string) {
	for _, kv := range env {
		if !strings.HasPrefix(kv, "FAIRLEAD_TOKEN") {
			out = append(out, kv)
		}
	}
	return out
}

// registration is one endpoint that is kept.
type registration struct {
	*session
	lease   leaseHolder
	cluster string
	put     client.EndpointPut
	child   *childproc.Process // nil: none
	drain   time.Duration
}

// run keeps the endpoint until ctx or the program ends. What the API refuses at the start is an error. Later it is no reason to end a program that
// serves: the endpoint goes with its lease.
func (r *registration) run(ctx context.Context, ready bool) error {
	if ready {
		if err := r.awaitReady(ctx); err != nil || r.childEnded() {
			return err
		}
	}
	told, placed, registered := false, false, false
	for ctx.Err() == nil && !r.childEnded() {
		fresh, err := r.lease.keep(ctx)
		if fresh {
			placed = false
		}
		if err == nil && !placed {
			r.put.Lease = &r.lease.id
			var written client.EndpointWritten
			if written, _, err = r.writeEndpoints(ctx, r.cluster, client.EndpointWrite{Set: &[]client.EndpointPut{r.put}}); err == nil {
				placed, registered = true, true
				r.tellUnused(written)
				fmt.Fprintf(r.err, "%s is registered in %s\n", plain(r.put.Address), plain(r.cluster))
			} else {
				r.lease.ended(err)
			}
		}
		next := r.lease.ttl / 3
		if err != nil {
			if refused(err) && !registered {
				return err
			}
			if !told && ctx.Err() == nil {
				fmt.Fprintf(r.err, "warning: %s\n", plain(err.Error()))
			}
			next = callAgain
		}
		told = err != nil
		r.rest(ctx, next)
	}
	return nil
}

// rest waits, or until the program ends.
func (r *registration) rest(ctx context.Context, d time.Duration) {
	if r.child == nil {
		_ = r.pause(ctx, d)
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-r.child.Done():
	}
}

func (r *registration) childEnded() bool {
	if r.child == nil {
		return false
	}
	select {
	case <-r.child.Done():
		return true
	default:
		return false
	}
}

// awaitReady waits until the address takes a connection, or the program ends.
func (r *registration) awaitReady(ctx context.Context) error {
	network, address := "tcp", r.put.Address
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	d := net.Dialer{Timeout: callAgain}
	for ctx.Err() == nil && !r.childEnded() {
		conn, err := d.DialContext(ctx, network, address)
		if err == nil {
			return conn.Close()
		}
		r.rest(ctx, callAgain/5)
	}
	return nil
}

// end drains, stops the program, and removes the endpoint. What it ended with is the program's status, or err.
func (r *registration) end(ctx context.Context, err error) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCalls+r.drain)
	defer cancel()
	if ctx.Err() != nil && r.lease.id != "" && !r.childEnded() {
		draining := client.Draining
		r.put.Health = &draining
		if _, _, failed := r.writeEndpoints(last, r.cluster, client.EndpointWrite{Set: &[]client.EndpointPut{r.put}}); failed == nil {
			fmt.Fprintf(r.err, "%s gets no new requests for %s\n", plain(r.put.Address), r.drain)
			r.drains(last)
		}
	}
	if r.child != nil {
		if stopped := r.child.Stop(); stopped != nil && err == nil {
			err = stopped
		}
		var status *exec.ExitError
		if errors.As(r.child.Err(), &status) && err == nil && ctx.Err() == nil {
			err = verdict(max(1, status.ExitCode()))
		}
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCalls)
	defer cancel()
	if failed := r.lease.end(end); failed != nil {
		fmt.Fprintf(r.err, "warning: %s is not removed, and goes within %s: %s\n", plain(r.put.Address), r.lease.ttl, plain(failed.Error()))
	}
	return err
}

// drains waits, and renews the lease meanwhile.
func (r *registration) drains(ctx context.Context) {
	for left := r.drain; left > 0 && ctx.Err() == nil && !r.childEnded(); {
		step := min(left, r.lease.ttl/3)
		r.rest(ctx, step)
		if left -= step; left > 0 {
			_, _ = r.lease.keep(ctx) // what cannot be renewed is removed a little earlier
		}
	}
}

// leaseHolder takes a lease and renews it.
type leaseHolder struct {
	*session
	ttl      time.Duration
	keepLast bool
	id       string // "": there is none
}

// keep renews the lease, or takes another one where there is none (any more): then what it is for is to be put again.
func (l *leaseHolder) keep(ctx context.Context) (fresh bool, err error) {
	if l.id != "" {
		resp, err := l.api.RenewLease(ctx, l.tenant, l.fleet, l.id, l.exactPath("leases", l.id)) //nolint:bodyclose // answer closes it
		if _, _, err = answer[client.Lease](l.session, resp, err); !isGone(err) {
			return false, err
		}
		l.id = ""
	}
	resp, err := l.api.TakeLease(ctx, l.tenant, l.fleet, client.LeaseTake{Ttl: fmt.Sprintf("%ds", int(l.ttl.Seconds())), KeepLast: &l.keepLast}) //nolint:bodyclose // answer closes it
	taken, _, err := answer[client.Lease](l.session, resp, err)
	if err != nil {
		return false, err
	}
	l.id = taken.Id
	return true, nil
}

// ended has the next keep take another one, where a write was refused because the lease is not there any more.
func (l *leaseHolder) ended(err error) {
	var p *problem
	if errors.As(err, &p) && p.Code == "lease_ended" {
		l.id = ""
	}
}

// end ends the lease, with its endpoints.
func (l *leaseHolder) end(ctx context.Context) error {
	if l.id == "" {
		return nil
	}
	resp, err := l.api.EndLease(ctx, l.tenant, l.fleet, l.id, l.exactPath("leases", l.id))
	if err == nil && resp.StatusCode == http.StatusNoContent {
		return resp.Body.Close()
	}
	if _, _, err = answer[client.Lease](l.session, resp, err); isGone(err) {
		return nil
	}
	return err
}

// isGone reports whether a lease is not there any more.
func isGone(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == http.StatusNotFound && deref(p.Missing) == client.MissingLease
}

// refused reports whether a call will fail again however often it is made.
func refused(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status/100 == 4 && p.Status != http.StatusTooManyRequests && p.Status != http.StatusConflict
}
