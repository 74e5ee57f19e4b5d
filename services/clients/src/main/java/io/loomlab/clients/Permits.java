package io.loomlab.clients;

import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.pool.InstrumentedPool;
import reactor.pool.PoolBuilder;

/** So many at once, without a thread that waits; others begin in the order in which they came. */
public final class Permits {
  private final InstrumentedPool<Boolean> permits;

  public Permits(int most) {
    permits =
        PoolBuilder.from(Mono.just(true))
            .sizeBetween(0, most)
            .maxPendingAcquireUnbounded()
            .buildPool();
  }

  /** What the supplier gives, which is asked once there is a permit. */
  public <T> Mono<T> with(Supplier<Mono<T>> work) {
    return permits.withPoolable(permit -> work.get()).next();
  }
}
