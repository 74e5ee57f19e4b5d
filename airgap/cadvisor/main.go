// Command cadvisor serves container metrics with cAdvisor's library where its image cannot be pulled.
// Flags, paths and metric names are those of the official command, as far as the lab uses them;
// housekeeping and Docker flags come from the library.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/google/cadvisor/cache/memory"
	"github.com/google/cadvisor/container"
	_ "github.com/google/cadvisor/container/docker/install"
	v2 "github.com/google/cadvisor/info/v2"
	"github.com/google/cadvisor/manager"
	"github.com/google/cadvisor/metrics"
	"github.com/google/cadvisor/utils/sysfs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// enabled leaves out what the library cannot read everywhere: perf_event makes it crash at the start.
var enabled = container.MetricSet{
	container.CpuUsageMetrics:    {},
	container.MemoryUsageMetrics: {},
	container.ProcessMetrics:     {},
	container.OOMMetrics:         {},
}

// noRawCgroups is how the library wants to be told that --docker_only has no exceptions.
var noRawCgroups = []string{""}

var (
	port            = flag.Int("port", 8080, "port to listen on")
	storageDuration = flag.Duration("storage_duration", 2*time.Minute, "how long samples are kept in memory")
	storeLabels     = flag.Bool("store_container_labels", true, "export every container label")
	labelAllowList  = flag.String("whitelisted_container_labels", "",
		"comma-separated container labels to export when --store_container_labels=false")
)

func main() {
	flag.Var(&enabled, "enable_metrics", "comma-separated metric sets to collect")
	flag.Parse()

	containers, err := manager.New(memory.New(*storageDuration, nil), sysfs.NewRealSysFs(),
		manager.HousekeepingConfigFlags, enabled, http.DefaultClient, noRawCgroups, nil, "", 0)
	exitOn(err)
	exitOn(containers.Start())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: fmt.Sprintf(":%d", *port), Handler: handler(containers)}
	go func() { exitOn(server.ListenAndServe()) }()
	<-ctx.Done()
	exitOn(containers.Stop())
}

func handler(containers manager.Manager) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		options := v2.RequestOptions{IdType: v2.TypeName, Count: 1, Recursive: true}
		if text := r.URL.Query().Get("max_age"); text != "" {
			maxAge, err := time.ParseDuration(text)
			if err != nil {
				http.Error(w, fmt.Sprintf("max_age %q is not a duration such as 500ms", text), http.StatusBadRequest)
				return
			}
			options.MaxAge = &maxAge
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(metrics.NewPrometheusCollector(containers, labels(), enabled, clock.RealClock{}, options))
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
	})
	return mux
}

func labels() metrics.ContainerLabelsFunc {
	if *storeLabels {
		return metrics.DefaultContainerLabels
	}
	return metrics.BaseContainerLabels(strings.Split(*labelAllowList, ","))
}

func exitOn(err error) {
	if err != nil {
		klog.ErrorS(err, "cannot go on")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}
