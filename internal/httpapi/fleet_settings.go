package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const day = 24 * time.Hour

// units of an age, the largest first.
var units = []struct {
	letter byte
	length time.Duration
}{{'d', day}, {'h', time.Hour}, {'m', time.Minute}, {'s', time.Second}}

// UpdateFleet implements updateFleet.
func (a *API) UpdateFleet(ctx context.Context, r oapi.UpdateFleetRequestObject) (oapi.UpdateFleetResponseObject, error) {
	c := callOf(ctx)
	set, err := settingsOf(r.Body.References, r.Body.NodeIds, r.Body.ReceiptWindow, r.Body.ForgetNodesAfter, r.Body.StaticClusters)
	if err != nil {
		return nil, err
	}
	if err := textField("/description", deref(r.Body.Description), maxText); err != nil {
		return nil, err
	}
	set.Description = r.Body.Description
	f, err := a.store.UpdateFleet(ctx, c.tenant.ID, c.actor, c.fleet.ID, set)
	if err != nil {
		return nil, err
	}
	return oapi.UpdateFleet200JSONResponse(fleetOf(f)), nil
}

// settingsOf reads the settings that are given.
func settingsOf(references *oapi.References, nodeIDs *oapi.NodeIds, window, forget *string, static *oapi.StaticClusters) (set store.FleetSettings, err error) {
	set.References, set.NodeIDs = string(deref(references)), string(deref(nodeIDs))
	if set.ReceiptWindow, err = parseAge("/receipt_window", window, time.Minute, 30*day); err == nil {
		set.ForgetNodesAfter, err = parseAge("/forget_nodes_after", forget, time.Hour, 90*day)
	}
	if static == nil || err != nil {
		return set, err
	}
	set.StaticClusters = static
	for i, n := range *static {
		if err := textField(fmt.Sprintf("/static_clusters/%d", i), n, maxName); err != nil {
			return set, err
		}
	}
	return set, nil
}

// parseAge reads a field such as "12h"; 0 if it is not there.
func parseAge(pointer string, text *string, least, most time.Duration) (time.Duration, error) {
	if text == nil {
		return 0, nil
	}
	if s := *text; len(s) > 1 && len(s) <= 8 {
		n, err := strconv.ParseUint(s[:len(s)-1], 10, 32)
		for _, u := range units {
			if err == nil && s[len(s)-1] == u.letter && n <= uint64(most/u.length) { //nolint:gosec // positive
				if d := time.Duration(n) * u.length; d >= least { //nolint:gosec // at most most
					return d, nil
				}
			}
		}
	}
	return 0, badField(pointer, "invalid_duration", fmt.Sprintf("give a whole number of s, m, h or d, such as 12h, from %s to %s", ageText(least), ageText(most)))
}

// ageText writes whole seconds in the largest unit of which they are whole.
func ageText(d time.Duration) string {
	for _, u := range units {
		if d >= u.length && d%u.length == 0 {
			return strconv.FormatInt(int64(d/u.length), 10) + string(u.letter)
		}
	}
	return "0s"
}
