package main

import (
	"math"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// step is a rate that lasts for so many seconds.
type step struct {
	RateRPS float64 `json:"rate_rps"`
	Seconds float64 `json:"seconds"`
}

// latest is how much later than the last request was due one may still start.
const latest = time.Second

// ladder paces requests by steps that follow one another at once. It implements vegeta.Pacer.
type ladder struct {
	steps []step
	due   uint64
	began time.Time
}

func newLadder(steps []step) *ladder {
	offered := 0.0
	for _, one := range steps {
		offered += one.RateRPS * one.Seconds
	}
	return &ladder{steps: steps, due: uint64(math.Round(offered))}
}

// after returns when the request of that number is due, from the beginning.
func (l *ladder) after(number uint64) time.Duration {
	begins, offered := 0.0, 0.0
	for place, one := range l.steps {
		most := offered + one.RateRPS*one.Seconds
		if float64(number) < most || place == len(l.steps)-1 {
			return time.Duration((begins + (float64(number)-offered)/one.RateRPS) * float64(time.Second))
		}
		begins, offered = begins+one.Seconds, most
	}
	return 0
}

// Pace is how long to wait for the next request, and whether there is none.
func (l *ladder) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if l.began.IsZero() {
		l.began = time.Now().Add(-elapsed)
	}
	if hits >= l.due || elapsed > l.after(l.due)+latest {
		return 0, true
	}
	return max(l.after(hits)-elapsed, 0), false
}

// Rate is the offered rate at that time.
func (l *ladder) Rate(elapsed time.Duration) float64 {
	for _, one := range l.steps {
		if elapsed -= time.Duration(one.Seconds * float64(time.Second)); elapsed < 0 {
			return one.RateRPS
		}
	}
	return 0
}

var _ vegeta.Pacer = (*ladder)(nil)
