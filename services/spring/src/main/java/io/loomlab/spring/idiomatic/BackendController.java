package io.loomlab.spring.idiomatic;

import static io.loomlab.core.work.BackendPaths.segment;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Params;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.FanOut;
import io.loomlab.spring.idiomatic.BackendCalls.Authorities;
import io.loomlab.spring.idiomatic.BackendCalls.Meetings;
import io.loomlab.spring.idiomatic.BackendCalls.User;
import java.util.function.Supplier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What calls the backend, on a thread that waits for it. */
@RestController
public class BackendController {
  private final BackendCalls backend;
  private final FanOut fanOut;
  private final CpuWork cpu;
  private final RequestMetrics requests;

  BackendController(BackendCalls backend, FanOut fanOut, CpuWork cpu, RequestMetrics requests) {
    this.backend = backend;
    this.fanOut = fanOut;
    this.cpu = cpu;
    this.requests = requests;
  }

  @GetMapping("/capabilities")
  String capabilities(
      @RequestParam(defaultValue = "") String cpuMicros,
      @RequestParam(defaultValue = "") String calls,
      @RequestParam(defaultValue = "") String parallel) {
    requests.servedHere(Endpoint.CAPABILITIES);
    int work = Params.cpuMicros(cpuMicros);
    int times = Params.calls(calls);
    boolean atOnce = Params.parallel(parallel) && times > 1;
    String token = backend.get(String.class, "/authentication");
    String role = backend.get(String.class, "/authorization/{token}", segment(token));
    Supplier<String> call = () -> backend.get(String.class, "/capabilities/{role}", segment(role));
    String capabilities = atOnce ? fanOut.last(times, call::get) : lastOf(times, call);
    cpu.spend(work);
    return capabilities;
  }

  @GetMapping("/meetings")
  Meetings meetings(@RequestHeader(defaultValue = "") String authorization) {
    requests.servedHere(Endpoint.MEETINGS);
    String token = Params.authorization(authorization);
    User user = backend.get(User.class, "/authenticate?token={token}", token);
    String id = segment(user.userId());
    backend.get(Authorities.class, "/authorize?id={id}", id).require("get-meetings");
    return backend.get(Meetings.class, "/meetings?id={id}", id);
  }

  @GetMapping("/httpbin/block/{seconds}")
  String block(@PathVariable String seconds) {
    requests.servedHere(Endpoint.BLOCK);
    return backend.get(String.class, "/delay/{seconds}", Params.seconds(seconds));
  }

  private static String lastOf(int calls, Supplier<String> call) {
    for (int i = 1; i < calls; i++) {
      call.get();
    }
    return call.get();
  }
}
