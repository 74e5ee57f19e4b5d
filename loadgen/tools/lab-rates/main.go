// lab-rates LOAD ROWS REPORT: requests that start when they are due, by vegeta. LOAD is the file that tools/vegeta.py writes; ROWS gets
// a line a request, REPORT the counts once all have ended. Stopped by a signal, it leaves rows up to the last second and no report.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	vegeta "github.com/tsenart/vegeta/v12/lib"
	"github.com/tsenart/vegeta/v12/lib/prom"
)

// firstWorkers may become as many as there may be connections, as soon as all are busy.
const firstWorkers = 100

// mostBytes of an answer are kept in memory, and counted; the others are read, too.
const mostBytes = 4 << 20

type load struct {
	Origin      string `json:"origin"`
	TimeoutMs   int    `json:"timeout_ms"`
	Connections int    `json:"connections"`
	MetricsPort int    `json:"metrics_port"`
	Steps       []step `json:"steps"`
	Requests    []struct {
		Method  string      `json:"method"`
		Target  string      `json:"target"`
		Headers [][2]string `json:"headers"`
		Body    *string     `json:"body"`
	} `json:"requests"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "lab-rates: give three files: LOAD ROWS REPORT.")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "lab-rates:", err)
		os.Exit(1)
	}
}

func run(loadPath, rowsPath, reportPath string) error {
	asked, targets, err := read(loadPath)
	if err != nil {
		return err
	}
	places := make(map[string]int, len(targets)) // what vegeta tells of a request is its method and URL
	for place := len(targets) - 1; place >= 0; place-- {
		places[targets[place].Method+targets[place].URL] = place
	}
	written, err := newRows(rowsPath)
	if err != nil {
		return err
	}
	metrics := prom.NewMetrics()
	if err := expose(metrics, asked.MetricsPort); err != nil {
		return err
	}
	attacker := vegeta.NewAttacker(
		vegeta.Timeout(time.Duration(asked.TimeoutMs)*time.Millisecond),
		vegeta.Connections(asked.Connections),
		vegeta.MaxConnections(asked.Connections),
		vegeta.Workers(uint64(min(asked.Connections, firstWorkers))),
		vegeta.MaxWorkers(uint64(asked.Connections)),
		vegeta.Redirects(vegeta.NoFollow),
		vegeta.Proxy(nil),
		vegeta.HTTP2(false),
		vegeta.MaxBody(mostBytes),
	)
	paced := newLadder(asked.Steps)
	// The pacer does not ask when to stop while all connections are busy.
	time.AfterFunc(paced.after(paced.due)+latest, func() { attacker.Stop() })
	results, flushing := attacker.Attack(vegeta.NewStaticTargeter(targets...), paced, 0, ""), time.NewTicker(time.Second)
	for {
		select {
		case result, more := <-results:
			if !more {
				written.Unsent = paced.due - written.Requests
				return written.end(reportPath)
			}
			if err := written.add(result, places[result.Method+result.URL], paced.began.Add(paced.after(result.Seq))); err != nil {
				return err
			}
			result.Error = "" // the exporter would have a series for each text, ports included
			metrics.Observe(result)
		case <-flushing.C:
			if err := written.file.Flush(); err != nil {
				return err
			}
		}
	}
}

func read(path string) (*load, []vegeta.Target, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	asked := &load{}
	if err := json.Unmarshal(text, asked); err != nil {
		return nil, nil, err
	}
	targets := make([]vegeta.Target, len(asked.Requests))
	for place, one := range asked.Requests {
		targets[place] = vegeta.Target{Method: one.Method, URL: asked.Origin + one.Target, Header: http.Header{}}
		for _, header := range one.Headers {
			targets[place].Header.Add(header[0], expanded(header[1]))
		}
		if one.Body != nil {
			if targets[place].Body, err = os.ReadFile(*one.Body); err != nil {
				return nil, nil, err
			}
		}
	}
	return asked, targets, nil
}

// expose serves live figures, unless the port is 0.
func expose(metrics *prom.Metrics, port int) error {
	if port == 0 {
		return nil
	}
	registry := prometheus.NewRegistry()
	if err := metrics.Register(registry); err != nil {
		return err
	}
	server := &http.Server{Addr: fmt.Sprintf("0.0.0.0:%d", port), Handler: prom.NewHandler(registry, time.Now().UTC())}
	go func() {
		if err := server.ListenAndServe(); err != nil {
			fmt.Fprintln(os.Stderr, "lab-rates: no live figures:", err)
		}
	}()
	return nil
}

// expanded has a variable of the environment in place of each ${NAME}, so that no file holds what is secret.
func expanded(value string) string {
	return variable.ReplaceAllStringFunc(value, func(found string) string { return os.Getenv(found[2 : len(found)-1]) })
}

var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
