package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/jsonpointer"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const day = 24 * time.Hour

// units of an age, the largest first.
var units = []struct {
	letter byte
	length time.Duration
}{{'d', day}, {'h', time.Hour}, {'m', time.Minute}, {'s', time.Second}}

// UpdateFleet implements updateFleet.
func (a *API) UpdateFleet(ctx context.Context, c *call, r oapi.UpdateFleetRequestObject) (oapi.UpdateFleetResponseObject, error) {
	set, err := settingsOf(r.Body.References, r.Body.NodeIds, r.Body.ReceiptWindow, r.Body.ForgetNodesAfter, r.Body.StaticClusters, r.Body.PrivateClusters, r.Body.LocalPorts, r.Body.Values)
	if err != nil {
		return nil, err
	}
	if err := textField("/description", deref(r.Body.Description), maxText); err != nil {
		return nil, err
	}
	set.Description = r.Body.Description
	if err := a.loadSettingsOf(&set, r.Body.LoadReportInterval, r.Body.LoadReportClusters, r.Body.LoadReportEndpoints); err != nil {
		return nil, err
	}
	if err := room(c.fleet.Values, set.Values); err != nil {
		return nil, err
	}
	match, err := settingsMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	f, err := a.store.UpdateFleetIf(ctx, c.tenant.ID, c.actor, c.fleet.ID, set, match)
	var changed *store.SettingsError
	if errors.As(err, &changed) {
		p := problemOf(err)
		p.detail, p.etag = "the settings of the fleet are not what If-Match names: somebody has changed them since; look at what they are now, and send the change again with their ETag", changed.ETag
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	return oapi.UpdateFleet200JSONResponse{Body: a.fleetOf(f), Headers: oapi.UpdateFleet200ResponseHeaders{ETag: &f.ETag}}, nil
}

var fleetETag = regexp.MustCompile(`^"[0-9a-f]{16}"$`)

// settingsMatch is the ETag that the settings must have; "": they may be any.
func settingsMatch(header *string) (string, error) {
	switch match := deref(header); {
	case header == nil, match == "*":
		return "", nil
	case fleetETag.MatchString(match):
		return match, nil
	}
	return "", badParameter("If-Match", "invalid_precondition", `this is neither * nor one ETag of a fleet as an answer has it, such as "f8a0c31b5d2e4976"; a weak one (W/) and a list are not taken`)
}

// settingsOf reads the settings that are given.
func settingsOf(references *oapi.References, nodeIDs *oapi.NodeIds, window, forget *string, static *oapi.StaticClusters, private *oapi.PrivateClusters, ports *oapi.LocalPorts, values *oapi.FleetValues) (set store.FleetSettings, err error) {
	set.References, set.NodeIDs = string(deref(references)), string(deref(nodeIDs))
	if set.ReceiptWindow, err = parseAge("/receipt_window", window, time.Minute, 30*day); err == nil {
		set.ForgetNodesAfter, err = parseAge("/forget_nodes_after", forget, time.Hour, 90*day)
	}
	if err == nil {
		set.Values, err = valuesOf(values)
	}
	set.LocalPorts = ports
	if err == nil {
		set.StaticClusters, err = clustersOf("/static_clusters", static)
	}
	if err == nil {
		set.PrivateClusters, err = clustersOf("/private_clusters", private)
	}
	return set, err
}

// clustersOf reads a list of clusters' names; nil: it is not given.
func clustersOf(pointer string, names *[]string) (*[]string, error) {
	for i, n := range deref(names) {
		if err := textField(fmt.Sprintf("%s/%d", pointer, i), n, maxName); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// loadSettingsOf reads the settings of load reports that are given; an empty one takes what is there away.
func (a *API) loadSettingsOf(set *store.FleetSettings, interval *string, clusters *oapi.LoadReportClusters, endpoints *bool) (err error) {
	set.LoadReportEndpoints = endpoints
	if interval != nil {
		set.LoadReportInterval = new(time.Duration)
		if *interval != "" {
			*set.LoadReportInterval, err = parseAge("/load_report_interval", interval, a.leastLoad, time.Minute)
		}
	}
	if err == nil {
		set.LoadReportClusters, err = clustersOf("/load_report_clusters", clusters)
	}
	if size := len(strings.Join(deref(clusters), "")); err == nil && size > mostReported {
		err = badField("/load_report_clusters", "too_long", fmt.Sprintf("the names come to %d bytes, %d is the limit: each stream of reports is told all of them", size, mostReported))
	}
	return err
}

// mostReported is what the names of load_report_clusters may come to, in bytes.
const mostReported = 32 << 10

// mostValues is how many values a fleet may have.
const mostValues = 100

// valuesOf reads the values that are given to a fleet, by their names; an empty one takes the value away.
func valuesOf(values *oapi.FleetValues) (map[string]string, error) {
	for _, name := range slices.Sorted(maps.Keys(deref(values))) {
		at := "/values/" + jsonpointer.Escape(name)
		if !resource.ValidValueName(name) {
			return nil, badField(at, "invalid_name", "the name of a value is letters, digits and _, not a digit first, at most 64")
		}
		if err := textField(at, (*values)[name], resource.MaxValue); err != nil {
			return nil, err
		}
	}
	return deref(values), nil
}

// room refuses more values than a fleet may have.
func room(present, changed map[string]string) error {
	all := maps.Clone(present)
	maps.Copy(all, changed)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	if len(all) > mostValues {
		return badField("/values", "limit", fmt.Sprintf("a fleet has at most %d values: these would be %d", mostValues, len(all)))
	}
	return nil
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
