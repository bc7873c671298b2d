package e2e

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"

	"fairlead/test/world"
)

// dumped is what the Envoy's dumps say that it has, a line each; not what it has from its bootstrap.
func (f *fleets) dumped() string {
	f.T.Helper()
	var dump struct {
		Configs []struct {
			Clusters []struct {
				Cluster struct {
					Name           string
					ConnectTimeout string `json:"connect_timeout"`
				}
			} `json:"dynamic_active_clusters"`
			Listeners []struct {
				Active struct {
					Listener struct {
						Name      string
						Direction string `json:"traffic_direction"`
					}
				} `json:"active_state"`
			} `json:"dynamic_listeners"`
			Routes []struct {
				Route struct {
					Name  string
					Hosts []struct{ Name string } `json:"virtual_hosts"`
				} `json:"route_config"`
			} `json:"dynamic_route_configs"`
			Scopes []struct {
				Scoped []struct {
					Name  string
					Route string `json:"route_configuration_name"`
				} `json:"scoped_route_configs"`
			} `json:"dynamic_scoped_route_configs"`
			Secrets []struct{ Name string } `json:"dynamic_active_secrets"`
			Filters []struct {
				Filter struct {
					Name  string
					Typed struct {
						Abort struct {
							Status int `json:"http_status"`
						}
					} `json:"typed_config"`
				} `json:"ecds_filter"`
			} `json:"ecds_filters"`
		}
	}
	b, err := f.deletions.envoy.Admin(f.T.Context(), "/config_dump")
	world.Must(f.T, err)
	world.Must(f.T, json.Unmarshal(b, &dump))
	var lines []string
	has := func(typ, name, mark string) {
		if name != "" && name != "vhds" {
			lines = append(lines, typ+"/"+name+" "+mark)
		}
	}
	for _, c := range dump.Configs {
		for _, x := range c.Clusters {
			has("clusters", x.Cluster.Name, x.Cluster.ConnectTimeout)
		}
		for _, x := range c.Listeners {
			l := x.Active.Listener
			if l.Direction == "" {
				l.Direction = directions[0]
			}
			has("listeners", l.Name, l.Direction)
		}
		for _, x := range c.Routes {
			if len(x.Route.Hosts) > 0 {
				has("routes", x.Route.Name, x.Route.Hosts[0].Name)
			}
		}
		for _, x := range c.Scopes {
			for _, s := range x.Scoped {
				has("scoped-routes", s.Name, s.Route)
			}
		}
		for _, x := range c.Secrets {
			has("secrets", x.Name, "")
		}
		for _, x := range c.Filters {
			has("extensions", x.Filter.Name, strconv.Itoa(x.Filter.Typed.Abort.Status))
		}
	}
	has("runtimes", map[bool]string{true: "layer"}[runtimeValue(f.T, f.deletions.envoy, "e2e.key") != ""], runtimeValue(f.T, f.deletions.envoy, "e2e.key"))
	lines = append(lines, f.dumpedEndpoints()...)
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") // two that use the same list it twice
}

func (f *fleets) dumpedEndpoints() (lines []string) {
	var page struct {
		Clusters []struct {
			Name  string
			Hosts []struct {
				Address struct {
					Socket struct {
						Address string
						Port    int `json:"port_value"`
					} `json:"socket_address"`
				}
			} `json:"host_statuses"`
		} `json:"cluster_statuses"`
	}
	b, err := f.deletions.envoy.Admin(f.T.Context(), "/clusters?format=json")
	world.Must(f.T, err)
	world.Must(f.T, json.Unmarshal(b, &page))
	for _, c := range page.Clusters {
		if len(c.Name) > 1 {
			continue // of the bootstrap
		}
		for _, h := range c.Hosts {
			lines = append(lines, "endpoints/"+c.Name+" "+net.JoinHostPort(h.Address.Socket.Address, strconv.Itoa(h.Address.Socket.Port)))
		}
	}
	return lines
}
