package replica

import (
	"math"
	"slices"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

// TestT07_TimeTellsNothingOfANodeId is Welch's t over the comparison for a known id with a
// wrong secret and for an unknown id: taken in turns, in batches, so that a busy machine
// disturbs both alike. It runs alone.
func TestT07_TimeTellsNothingOfANodeId(t *testing.T) {
	known := fleet.Credential{ID: fleet.NewCredentialID(), Hash: auth.Hash("right"), Nodes: "*"}
	now := time.Now()
	measure := func(c fleet.Credential) float64 {
		start := time.Now()
		for i := range 100 {
			if judge(c, auth.Hash("wrong"+string(rune('a'+i%26))), now) == nil {
				t.Fatal("a wrong token is good")
			}
		}
		return float64(time.Since(start))
	}
	var score float64
	for range 10 { // a disturbance passes, a difference stays
		var a, b []float64
		for range 1000 { // 100,000 comparisons each
			a = append(a, measure(known))
			b = append(b, measure(fleet.Credential{}))
		}
		if score = welch(lower(a), lower(b)); math.Abs(score) < 4.5 {
			return
		}
	}
	t.Errorf("|t| = %.1f: an unknown id can be told from a wrong secret", math.Abs(score))
}

// lower keeps the lower half: what is above it is the scheduler's.
func lower(xs []float64) []float64 {
	slices.Sort(xs)
	return xs[:len(xs)/2]
}

func welch(a, b []float64) float64 {
	meanA, varA := moments(a)
	meanB, varB := moments(b)
	return (meanA - meanB) / math.Sqrt(varA/float64(len(a))+varB/float64(len(b))+1)
}

func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / float64(len(xs)-1)
	}
	return mean, variance
}

// TestT07_TheHashOfNoCredentialIsNoToken: that of zeroes is not either.
func TestT07_TheHashOfNoCredentialIsNoToken(t *testing.T) {
	t.Parallel()
	if judge(fleet.Credential{}, [32]byte{}, time.Now()) == nil {
		t.Error("it is good")
	}
}
