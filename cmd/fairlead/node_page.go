package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	client "fairlead/clients/go"
)

// nodePage is what is known of one node, a line each; what is not known has none.
func nodePage(n client.Node) table {
	since := ""
	if n.Since != nil {
		since = when(*n.Since)
	}
	labels := deref(n.Labels)
	t := table{{"node", n.Id}, {"state", string(n.State)}}
	for _, line := range [][]string{
		{"settled", settledAt(n.Settled)},
		{"client", clientName(n.UserAgent, n.Version)},
		{"cluster", deref(n.Cluster)},
		{"locality", localityText(labels)},
		{"metadata", metadataText(labels, n.LabelsUnknown != nil)},
		{"bootstrap", bootstrapText(n.OldBootstrap)},
		{"subscribes", subscribesText(n.Subscribes)},
		{"server", deref(n.Server)},
		{"protocol", deref(n.Protocol)},
		{"address", deref(n.RemoteAddr)},
		{"credential", credentialText(n)},
		{"since", since},
		{"first seen", when(n.FirstSeen)},
		{"last seen", when(n.LastSeen)},
	} {
		if line[1] != "" {
			t = append(t, line)
		}
	}
	return t
}

// credentialText is the node's credential, and when it ends.
func credentialText(n client.Node) string {
	if n.CredentialExpiresAt == nil {
		return deref(n.Credential)
	}
	return fmt.Sprintf("%s until %s", deref(n.Credential), when(*n.CredentialExpiresAt))
}

// bootstrapText is nothing of a node whose bootstrap says what it is of.
func bootstrapText(old *bool) string {
	if !deref(old) {
		return ""
	}
	return "old, or by hand: it does not say that it keeps the node's credential from what is routed; see fairlead findings"
}

func settledAt(revision int64) string {
	if revision == 0 {
		return "nothing confirmed yet"
	}
	return "revision " + strconv.FormatInt(revision, 10)
}

func localityText(l client.NodeLabels) string {
	var has []string
	for _, part := range []struct {
		key   string
		value *string
	}{{"region", l.Region}, {"zone", l.Zone}, {"sub_zone", l.SubZone}} {
		if part.value != nil {
			has = append(has, part.key+"="+*part.value)
		}
	}
	return strings.Join(has, ", ")
}

func metadataText(l client.NodeLabels, unknown bool) string {
	if unknown {
		return "not known: it takes more than 16 KiB, or the node has not connected for long"
	}
	if l.Metadata == nil {
		return ""
	}
	text, err := json.Marshal(*l.Metadata)
	if err != nil {
		return ""
	}
	return string(text)
}

// subscribesText is by how the node asks: all of these types, some of those.
func subscribesText(subs *[]client.NodeSubscription) string {
	var all, some []string
	for _, s := range deref(subs) {
		switch kind := string(s.Type); {
		case s.Wildcard:
			all = append(all, kind)
		case s.Named != nil:
			some = append(some, fmt.Sprintf("%d %s", *s.Named, kind))
		case s.Names != nil && len(*s.Names) > 0:
			some = append(some, kind+" ("+strings.Join(*s.Names, ", ")+")")
		default:
			some = append(some, kind)
		}
	}
	var parts []string
	if len(all) > 0 {
		parts = append(parts, "all of "+strings.Join(all, ", "))
	}
	if len(some) > 0 {
		parts = append(parts, "by name "+strings.Join(some, ", "))
	}
	return strings.Join(parts, "; ")
}
