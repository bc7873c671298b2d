package httpapi

import (
	"context"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListLoad implements listLoad.
func (a *API) ListLoad(ctx context.Context, c *call, r oapi.ListLoadRequestObject) (oapi.ListLoadResponseObject, error) {
	var out oapi.ListLoad200JSONResponse
	var err error
	if r.Params.Cluster != nil && r.Params.Clusters != nil {
		return nil, badParameter("clusters", "not_allowed", "give cluster or clusters, not both")
	}
	if r.Params.Cluster != nil {
		out.Items, out.NextCursor, err = a.loadMinutes(ctx, c, *r.Params.Cluster, r.Params)
	} else {
		out.Items, out.NextCursor, err = a.loadClusters(ctx, c, r.Params)
	}
	if err == nil {
		out.LeftOut, err = a.store.LoadLeftOut(ctx, c.tenant.ID, c.fleet.ID)
	}
	return out, err
}

func (a *API) loadClusters(ctx context.Context, c *call, p oapi.ListLoadParams) (items []oapi.Load, cont *string, err error) {
	from, err := parseCursor("load", p.Cursor)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range deref(p.Clusters) {
		if err := text("clusters", name); err != nil {
			return nil, nil, err
		}
	}
	rows, more, err := a.store.ClusterLoads(ctx, c.tenant.ID, c.fleet.ID, deref(p.Clusters), from.Name, pageLimit(p.Limit))
	if err != nil {
		return nil, nil, err
	}
	items = each(rows, func(l store.ClusterLoad) oapi.Load {
		return oapi.Load{Cluster: l.Cluster, Minute: l.Last, Issued: l.Issued, Successful: l.Succeeded, Errors: l.Failed, Dropped: l.Dropped}
	})
	if more {
		cont = next(cursor{List: "load", Name: rows[len(rows)-1].Cluster})
	}
	return items, cont, nil
}

func (a *API) loadMinutes(ctx context.Context, c *call, cluster string, p oapi.ListLoadParams) (items []oapi.Load, cont *string, err error) {
	list := "load/" + cluster
	if err := text("cluster", cluster); err != nil {
		return nil, nil, err
	}
	from, err := parseCursor(list, p.Cursor)
	if err != nil {
		return nil, nil, err
	}
	after := time.Time{}
	if from.Name != "" {
		if after, err = time.Parse(time.RFC3339, from.Name); err != nil {
			return nil, nil, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
		}
	}
	minutes, more, err := a.store.LoadMinutes(ctx, c.tenant.ID, c.fleet.ID, cluster, after, pageLimit(p.Limit))
	if err != nil {
		return nil, nil, err
	}
	items = each(minutes, func(parts []store.LoadPart) oapi.Load { return minuteOf(cluster, parts) })
	if more {
		cont = next(cursor{List: list, Name: items[len(items)-1].Minute.Format(time.RFC3339)})
	}
	return items, cont, nil
}

// minuteOf adds up what is known of a minute.
func minuteOf(cluster string, parts []store.LoadPart) oapi.Load {
	out := oapi.Load{Cluster: cluster, Minute: parts[0].Minute}
	var localities []oapi.LocalityLoad
	var drops []oapi.LoadDrop
	var metrics []oapi.LoadMetric
	var endpoints []oapi.EndpointLoad
	var progress float64
	for _, p := range parts {
		switch p.Kind {
		case fleet.LoadRequests:
			l := oapi.LocalityLoad{Locality: localityOf(p), Issued: p.Issued, Successful: p.Succeeded, Errors: p.Failed, InProgress: p.InProgress / time.Minute.Seconds()}
			localities = append(localities, l)
			out.Issued, out.Successful, out.Errors = within(out.Issued+p.Issued), within(out.Successful+p.Succeeded), within(out.Errors+p.Failed)
			progress += l.InProgress
		case fleet.LoadEndpoint: // its locality counts it too
			endpoints = append(endpoints, oapi.EndpointLoad{
				Address: p.Of, Locality: localityOf(p), Issued: p.Issued, Successful: p.Succeeded, Errors: p.Failed, InProgress: p.InProgress / time.Minute.Seconds(),
			})
		case fleet.LoadDrops:
			drops = append(drops, oapi.LoadDrop{Category: p.Of, Count: p.Count})
			out.Dropped = within(out.Dropped + p.Count)
		case fleet.LoadMetric:
			metrics = append(metrics, oapi.LoadMetric{Name: p.Of, Count: p.Count, Total: p.Total})
		case fleet.LoadLeftOut: // of no cluster
		}
	}
	out.InProgress, out.Localities, out.Drops, out.Metrics, out.Endpoints = &progress, listOrNil(localities), listOrNil(drops), listOrNil(metrics), listOrNil(endpoints)
	return out
}

// localityOf is nil of none.
func localityOf(p store.LoadPart) *oapi.EndpointLocality {
	if p.Region == "" && p.Zone == "" && p.SubZone == "" {
		return nil
	}
	return &oapi.EndpointLocality{Region: optional(p.Region), Zone: optional(p.Zone), SubZone: optional(p.SubZone)}
}

// within bounds the sum of two numbers that are bounded: of what proxies say any may be the largest.
func within(sum int64) int64 { return min(sum, fleet.MostLoad) }

func listOrNil[T any](s []T) *[]T {
	if len(s) == 0 {
		return nil
	}
	return &s
}
