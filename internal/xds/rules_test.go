package xds_test

import (
	"testing"

	"fairlead/internal/xds/conformance"
)

// Each rule of the protocol has a test of its name. What a rule asks for are the checks
// of package conformance; docs/protocol.md lists them with their results.

func TestRule00TypesAndServices(t *testing.T) { conformance.Run(t, 0, conformance.Fairlead) }

func TestRule01LegacyWildcard(t *testing.T) { conformance.Run(t, 1, conformance.Fairlead) }

func TestRule02WildcardBesideNames(t *testing.T) { conformance.Run(t, 2, conformance.Fairlead) }

func TestRule03UnsubscribedWildcard(t *testing.T) { conformance.Run(t, 3, conformance.Fairlead) }

func TestRule04NamesAreAnswered(t *testing.T) { conformance.Run(t, 4, conformance.Fairlead) }

func TestRule05MissingNames(t *testing.T) { conformance.Run(t, 5, conformance.Fairlead) }

func TestRule06Unsubscribing(t *testing.T) { conformance.Run(t, 6, conformance.Fairlead) }

func TestRule07NewNames(t *testing.T) { conformance.Run(t, 7, conformance.Fairlead) }

func TestRule08VirtualHosts(t *testing.T) { conformance.Run(t, 8, conformance.Fairlead) }

func TestRule09NamesInResponses(t *testing.T) { conformance.Run(t, 9, conformance.Fairlead) }

func TestRule10WhatAResponseHolds(t *testing.T) { conformance.Run(t, 10, conformance.Fairlead) }

func TestRule11UnchangedIsNotSent(t *testing.T) { conformance.Run(t, 11, conformance.Fairlead) }

func TestRule12VersionsAreContent(t *testing.T) { conformance.Run(t, 12, conformance.Fairlead) }

func TestRule13NewStreams(t *testing.T) { conformance.Run(t, 13, conformance.Fairlead) }

func TestRule14EndpointsFollowClusters(t *testing.T) { conformance.Run(t, 14, conformance.Fairlead) }

func TestRule15OneResponseInFlight(t *testing.T) { conformance.Run(t, 15, conformance.Fairlead) }

func TestRule16Refusals(t *testing.T) { conformance.Run(t, 16, conformance.Fairlead) }

func TestRule17Nonces(t *testing.T) { conformance.Run(t, 17, conformance.Fairlead) }

func TestRule18Nodes(t *testing.T) { conformance.Run(t, 18, conformance.Fairlead) }

func TestRule19MakeBeforeBreak(t *testing.T) { conformance.Run(t, 19, conformance.Fairlead) }

func TestRule20WhoGetsTTLs(t *testing.T) { conformance.Run(t, 20, conformance.Fairlead) }

func TestRule21Heartbeats(t *testing.T) { conformance.Run(t, 21, conformance.Fairlead) }

func TestRule22ChangedTTLs(t *testing.T) { conformance.Run(t, 22, conformance.Fairlead) }

func TestRule23Expiry(t *testing.T) { conformance.Run(t, 23, conformance.Fairlead) }

func TestRule24Limits(t *testing.T) { conformance.Run(t, 24, conformance.Fairlead) }

func TestRule25Connections(t *testing.T) { conformance.Run(t, 25, conformance.Fairlead) }

func TestRule26Loading(t *testing.T) { conformance.Run(t, 26, conformance.Fairlead) }

func TestRule27Polls(t *testing.T) { conformance.Run(t, 27, conformance.Fairlead) }
