package io.loomlab.core.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.SettingsTest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LimitedEndpointsTest {
  private static final int LIMIT = 3;

  private final AtomicInteger served = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final CountDownLatch full = new CountDownLatch(LIMIT);
  private final CountDownLatch release = new CountDownLatch(1);

  @Test
  void servesSoManyAtOnceAndThenTheOthers() throws Exception {
    Endpoints<Answer> limited = LimitedEndpoints.of(settings("virtual-threads"), this::waits);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Answer>> answers = new ArrayList<>();
      for (int i = 0; i < 4 * LIMIT; i++) {
        answers.add(threads.submit(() -> limited.answer(Endpoint.BLOCK, () -> null)));
      }
      assertThat(full.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(served).hasValue(LIMIT);
      release.countDown();
      for (Future<Answer> answer : answers) {
        assertThat(answer.get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
      }
    }
    assertThat(most).hasValue(LIMIT);
  }

  @Test
  void whatFailsLeavesItsPlace() {
    Endpoints<Answer> limited =
        LimitedEndpoints.of(
            settings("virtual-threads"),
            (endpoint, request) -> {
              throw new IllegalStateException("a bug");
            });
    for (int i = 0; i < 2 * LIMIT; i++) {
      assertThatThrownBy(() -> limited.answer(Endpoint.BLOCK, () -> null))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void withoutALimitTheyAreAsTheyWere() {
    Endpoints<Answer> endpoints = this::waits;
    assertThat(LimitedEndpoints.of(settings("platform-threads"), endpoints)).isSameAs(endpoints);
  }

  private Answer waits(Endpoint endpoint, Object request) {
    most.accumulateAndGet(served.incrementAndGet(), Math::max);
    full.countDown();
    try {
      release.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    served.decrementAndGet();
    return Answer.text("ok");
  }

  private static Settings settings(String concurrency) {
    Map<String, String> variables = new HashMap<>(SettingsTest.COMPLETE);
    variables.putAll(Map.of("LAB_CONCURRENCY", concurrency, "LAB_LIMIT", String.valueOf(LIMIT)));
    return Settings.from(variables);
  }
}
