package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// tellDenied is what is told now, in the order of reason, node and address.
func (w *world) tellDenied(end bool) (all []fleet.Denied) {
	w.t.Helper()
	err := w.TellDenied(w.t.Context(), end, func(_ context.Context, ds []fleet.Denied) error {
		all = append(all, ds...)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b fleet.Denied) int { return strings.Compare(deniedText(a), deniedText(b)) })
	return all
}

func deniedText(d fleet.Denied) string {
	return fmt.Sprintf("%s %q from %q x%d", d.Reason, d.Node, d.Address, d.Attempts)
}

func (w *world) wantDenied(end bool, want ...string) []fleet.Denied {
	w.t.Helper()
	var got []string
	all := w.tellDenied(end)
	for _, d := range all {
		got = append(got, deniedText(d))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("told %q, want %q", got, want)
	}
	return all
}

func TestWhoIsNotLetInIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		_, unknown, _ := auth.NewNodeToken(time.Time{})
		_, expired := w.newCredential(key, "*", time.Now().Add(-time.Minute))
		revoked, revokedToken := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: revoked.Credential, Hash: auth.Hash(revokedToken), Nodes: "*", RevokedAt: time.Now()})
		stolen, wrong := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: stolen.Credential, Hash: auth.Hash("another secret"), Nodes: "*"})
		deleted, _, lost := w.newFleet()
		w.feed.remove(deleted)
		for _, text := range []string{token, unknown, expired, revokedToken, revokedToken, wrong, lost, "hello"} {
			_, _ = w.Authenticate(t.Context(), text)
		}
		all := w.wantDenied(false, `token_expired "" from "" x1`, `token_revoked "" from "" x2`, `token_wrong "" from "" x1`)
		if all[1].Key != key || all[1].Credential != revoked.Credential || all[2].Key != key || all[2].Credential != stolen.Credential {
			t.Errorf("%+v", all)
		}
		w.wantDenied(false) // once

		// What a client says of itself, and of where it comes.
		edge, _ := w.newCredential(key, "edge-*", time.Time{})
		w.Denied(edge, fleet.DeniedNodeID, "core-1", "10.0.0.1:4711", "")
		w.Denied(edge, fleet.DeniedNodeID, "core-1", "10.0.0.1:4712", "")
		w.feed.nodeIDs(key, fleet.NodeIDsExclusive)
		w.attach(id, "n")
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "delta ADS", RemoteAddr: "[fe80::1]:9"}); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("%v", err)
		}
		w.feed.credential(key, fleet.Credential{ID: edge.Credential, Nodes: "edge-*", RevokedAt: time.Now()})
		w.Wake(key.Fleet, false)
		synctest.Wait()
		if _, err := w.Attach(t.Context(), edge, fleet.Node{ID: "edge-1"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("revoked between the token and the stream: %v", err)
		}
		w.wantDenied(false, `node_id_forbidden "core-1" from "10.0.0.1" x2`, `node_id_taken "n" from "fe80::1" x1`, `token_revoked "edge-1" from "" x1`)
	})
}

// The same again is told once a minute as a number; what could not be told is told the next time, with what came since.
func TestTheSameAgainIsANumber(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		deny := func(n int) {
			for range n {
				w.Denied(id, fleet.DeniedNodeID, "n", "10.0.0.1:1", "")
			}
		}
		deny(1)
		w.wantDenied(false, `node_id_forbidden "n" from "10.0.0.1" x1`)
		begin := w.clock.now()
		deny(1000)
		time.Sleep(deniedAgain / 2)
		w.wantDenied(false)
		time.Sleep(deniedAgain / 2)
		away := w.TellDenied(t.Context(), false, func(_ context.Context, ds []fleet.Denied) error {
			deny(1) // one comes while it is told
			return errAway
		})
		if !errors.Is(away, errAway) {
			t.Errorf("%v", away)
		}
		if all := w.wantDenied(false, `node_id_forbidden "n" from "10.0.0.1" x1001`); all[0].First.Before(begin) || !all[0].Last.After(all[0].First) {
			t.Errorf("%+v", all)
		}
		deny(1)
		w.wantDenied(false)
		w.wantDenied(true, `node_id_forbidden "n" from "10.0.0.1" x1`) // the end of the process
		time.Sleep(forgetDenied)
		w.wantDenied(false)
		if n := len(w.turnedAway.all) + len(w.turnedAway.of); n != 0 {
			t.Errorf("%d are remembered", n)
		}
	})
}

// Whoever comes, with whatever names, what is kept is bounded: of a fleet, so that it does not hide the others', and of all.
func TestWhoIsNotLetInIsBounded(t *testing.T) {
	t.Parallel()
	d, now := newDeniedClients(), time.Now()
	loud := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
	for i := range 10_000 {
		d.add(deniedKey{fleet: loud, reason: fleet.DeniedNodeID, node: fmt.Sprint(i)}, now)
		d.add(deniedKey{}, now) // of no fleet
	}
	all, lost := d.due(now, false)
	var attempts int64
	for _, x := range all {
		attempts += x.Attempts
	}
	if len(all) > mostDeniedOf || attempts != 10_000 || lost != 0 {
		t.Errorf("%d kinds of %d attempts, %d not counted apart", len(all), attempts, lost)
	}
	d.told(all, now)
	for range 2 * mostDenied {
		d.add(deniedKey{fleet: fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}, reason: fleet.DeniedToken}, now)
	}
	if _, lost := d.due(now, false); len(d.all) != mostDenied || lost != int64(mostDenied+len(all)) {
		t.Errorf("%d are kept, %d not counted apart", len(d.all), lost)
	}
}

// A tenant with many fleets leaves half of the room to others.
func TestWhoIsNotLetInOfOneTenantLeavesRoom(t *testing.T) {
	t.Parallel()
	d, now, one := newDeniedClients(), time.Unix(0, 0), fleet.NewTenantID()
	for range 2 { // what is forgotten gives its place back
		for range mostDenied {
			d.add(deniedKey{fleet: fleet.Key{Tenant: one, Fleet: fleet.NewID()}, reason: fleet.DeniedToken}, now)
		}
		d.add(deniedKey{fleet: fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}, reason: fleet.DeniedToken}, now)
		all, lost := d.due(now, false)
		if len(all) != mostDenied/2+1 || lost != mostDenied/2 {
			t.Errorf("%d kinds are told, %d attempts not counted apart", len(all), lost)
		}
		d.told(all, now)
		now = now.Add(forgetDenied)
		d.due(now, false)
	}
}
