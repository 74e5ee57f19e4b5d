package io.loomlab.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class PermitsTest {
  private static final int MOST = 2;

  private final Permits permits = new Permits(MOST);
  private final List<Sinks.One<String>> begun = new ArrayList<>();

  @Test
  void soManyBeginAndEachThatEndsLetsTheNextBegin() {
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      call().subscribe(answers::add);
    }
    assertThat(begun).hasSize(MOST);
    begun.getFirst().tryEmitValue("first");
    assertThat(begun).hasSize(MOST + 1);
    assertThat(answers).containsExactly("first");
  }

  @Test
  void whatFailsOrIsGivenUpLeavesItsPlace() {
    Disposable givenUp = call().subscribe();
    call().onErrorComplete().subscribe();
    Disposable waits = call().subscribe();
    call().subscribe();
    waits.dispose();
    givenUp.dispose();
    assertThat(begun).hasSize(MOST + 1);
    begun.get(1).tryEmitError(new IllegalStateException("a bug"));
    assertThat(permits.with(() -> Mono.just("ok")).block(Duration.ofSeconds(10))).isEqualTo("ok");
  }

  private Mono<String> call() {
    return permits.with(
        () -> {
          Sinks.One<String> answer = Sinks.one();
          begun.add(answer);
          return answer.asMono();
        });
  }
}
