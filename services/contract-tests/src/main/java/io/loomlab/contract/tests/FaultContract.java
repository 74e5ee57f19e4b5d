package io.loomlab.contract.tests;

import static io.loomlab.contract.tests.Http.assertProblem;
import static io.loomlab.contract.tests.Http.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.Approach;
import io.loomlab.contract.Settings;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every approach does while its backend is not well. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class FaultContract {
  private final Approach approach;
  private FaultyBackend backend;
  private Running running;

  protected FaultContract(Approach approach) {
    this.approach = approach;
  }

  /** Starts the real application. */
  protected abstract Running start(Settings settings);

  @BeforeAll
  void startAll() throws IOException {
    backend = new FaultyBackend();
    running = start(TestSettings.of(approach, backend.port()));
  }

  @AfterAll
  void stopAll() throws IOException {
    running.stop().run();
    backend.close();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SILENCE")
  void unusableAnswerIsABadGatewayAfterOneAttempt(FaultyBackend.Fault fault)
      throws IOException, InterruptedException {
    backend.commit(fault);
    assertProblem(get(running.port(), "/capabilities"), 502);
    assertThat(backend.requests()).isEqualTo(1);
  }

  @Test
  void silenceIsAGatewayTimeoutAfterOneAttempt() throws IOException, InterruptedException {
    backend.commit(FaultyBackend.Fault.SILENCE);
    assertProblem(get(running.port(), "/capabilities"), 504);
    assertThat(backend.requests()).isEqualTo(1);
  }

  @Test
  void noFreeConnectionInTimeIsAGatewayTimeout() throws Exception {
    backend.commit(FaultyBackend.Fault.SILENCE);
    Callable<HttpResponse<byte[]>> call = () -> get(running.port(), "/capabilities");
    int requests = TestSettings.BACKEND_CONNECTIONS + 2;
    List<Future<HttpResponse<byte[]>>> answers = new ArrayList<>();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < requests; i++) {
        answers.add(callers.submit(call));
      }
    }
    for (Future<HttpResponse<byte[]>> answer : answers) {
      assertProblem(answer.get(), 504);
    }
    assertThat(backend.requests()).isEqualTo(TestSettings.BACKEND_CONNECTIONS);
  }

  @Test
  void absentBackendIsABadGatewayAndTheConnectionStaysUsable()
      throws IOException, InterruptedException {
    backend.leave();
    try {
      for (int i = 0; i <= TestSettings.BACKEND_CONNECTIONS; i++) {
        assertProblem(get(running.port(), "/capabilities"), 502);
      }
      assertThat(Http.http10Twice(running.port(), "/capabilities")).contains(" 502");
    } finally {
      backend.comeBack();
    }
  }

  @Test
  void failuresAreCountedUnderTheirStatus() throws IOException, InterruptedException {
    backend.commit(FaultyBackend.Fault.SERVER_ERROR);
    get(running.port(), "/capabilities");
    assertThat(Http.text(get(running.managementPort(), "/actuator/prometheus")))
        .contains("endpoint=\"/capabilities\",status=\"502\"");
  }
}
