package io.loomlab.webflux.idiomatic;

import static io.loomlab.core.work.BackendPaths.segment;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Params;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.CpuWork;
import io.loomlab.spring.idiomatic.BackendCalls.Authorities;
import io.loomlab.spring.idiomatic.BackendCalls.Meetings;
import io.loomlab.spring.idiomatic.BackendCalls.User;
import io.loomlab.webflux.RepeatedCall;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** What calls the backend, without a thread that waits for it. */
@RestController
class ReactiveBackendController {
  private final WebBackend backend;
  private final CpuWork cpu;
  private final RequestMetrics requests;

  ReactiveBackendController(WebBackend backend, CpuWork cpu, RequestMetrics requests) {
    this.backend = backend;
    this.cpu = cpu;
    this.requests = requests;
  }

  @GetMapping("/capabilities")
  Mono<String> capabilities(
      @RequestParam(defaultValue = "") String cpuMicros,
      @RequestParam(defaultValue = "") String calls,
      @RequestParam(defaultValue = "") String parallel) {
    requests.servedHere(Endpoint.CAPABILITIES);
    int work = Params.cpuMicros(cpuMicros);
    int times = Params.calls(calls);
    boolean atOnce = Params.parallel(parallel) && times > 1;
    return backend
        .get(String.class, "/authentication")
        .flatMap(token -> backend.get(String.class, "/authorization/{token}", segment(token)))
        .map(
            role ->
                Mono.defer(() -> backend.get(String.class, "/capabilities/{role}", segment(role))))
        .flatMap(call -> RepeatedCall.lastOf(call, times, atOnce))
        .doOnNext(capabilities -> cpu.spend(work));
  }

  @GetMapping("/meetings")
  Mono<Meetings> meetings(@RequestHeader(defaultValue = "") String authorization) {
    requests.servedHere(Endpoint.MEETINGS);
    return backend
        .get(User.class, "/authenticate?token={token}", Params.authorization(authorization))
        .map(user -> segment(user.userId()))
        .flatMap(
            id ->
                backend
                    .get(Authorities.class, "/authorize?id={id}", id)
                    .doOnNext(authorities -> authorities.require("get-meetings"))
                    .then(Mono.defer(() -> backend.get(Meetings.class, "/meetings?id={id}", id))));
  }

  @GetMapping("/httpbin/block/{seconds}")
  Mono<String> block(@PathVariable String seconds) {
    requests.servedHere(Endpoint.BLOCK);
    return backend.get(String.class, "/delay/{seconds}", Params.seconds(seconds));
  }
}
