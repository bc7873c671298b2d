package xds

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAlarm: it rings at the time that was said last, and wakes nobody for one that holds no more.
func TestAlarm(t *testing.T) {
	for _, c := range []struct {
		what string
		said []time.Duration // one after the other, from the beginning; 0: never
		want time.Duration   // 0: never
	}{
		{"once", []time.Duration{time.Second}, time.Second},
		{"sooner", []time.Duration{time.Minute, time.Second}, time.Second},
		{"later", []time.Duration{time.Second, time.Minute}, time.Minute},
		{"no more", []time.Duration{time.Second, 0}, 0},
		{"no more, and then again", []time.Duration{time.Second, 0, time.Minute}, time.Minute},
		{"never", []time.Duration{0}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, began := &alarm{bell: NewBell()}, time.Now()
				defer a.stop()
				for _, d := range c.said {
					var due time.Time
					if d > 0 {
						due = began.Add(d)
					}
					a.at(began, due)
				}
				var rang time.Duration
				select {
				case <-a.bell:
					rang = time.Since(began)
				case <-time.After(time.Hour):
				}
				if rang != c.want {
					t.Errorf("it rang after %s, want %s", rang, c.want)
				}
			})
		})
	}
}

// TestAlarmStops: nothing rings after the stream's end, and it may be set again after it has rung.
func TestAlarmStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &alarm{bell: NewBell()}
		a.stop()
		for range 2 {
			a.at(time.Now(), time.Now().Add(time.Second))
			<-a.bell
		}
		a.at(time.Now(), time.Now().Add(time.Second))
		a.stop()
		time.Sleep(time.Hour)
		if len(a.bell) > 0 {
			t.Error("it rang after its end")
		}
	})
}
