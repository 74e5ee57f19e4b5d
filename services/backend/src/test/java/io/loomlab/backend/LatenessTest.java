package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A loop that is kept at work: it asks for a random number and does not get it. */
class LatenessTest {
  private static final long HELD_MILLIS = 1_000;
  private static final double HELD_SECONDS = HELD_MILLIS / 1e3;

  /** At most, from when a request was sent to when a hang began. */
  private static final double BEFORE_HANG_SECONDS = 0.25;

  private static final String AT_ONCE = "/delay/0";
  private static final String ASKS_FOR_A_NUMBER = "/capabilities/ADMIN";

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final Behaviour behaviour =
      new Behaviour(new Delay.Uniform(60_000, 60_000), ErrorShare.NONE);
  private final List<RawHttp> connections = new ArrayList<>();
  private final AtomicLong cpuWaitNanos = new AtomicLong(Duration.ofHours(1).toNanos());
  private volatile long waitedPerLook;
  private EventLoop loop;
  private ServerSocketChannel listener;

  @BeforeEach
  void start() throws IOException {
    listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    LoopBehaviour own = new LoopBehaviour(behaviour, this::nextLong, this::nextLong);
    loop = new EventLoop(0, own, () -> cpuWaitNanos.addAndGet(waitedPerLook));
    loop.start();
  }

  @AfterEach
  void stop() throws IOException {
    released.countDown();
    loop.stop();
    for (RawHttp http : connections) {
      http.close();
    }
    listener.close();
  }

  @Test
  void countsFromWhenTheLoopWasAtWork() throws Exception {
    RawHttp keeper = connect();
    RawHttp late = connectAndUse();
    long started = System.nanoTime();
    keeper.get(ASKS_FOR_A_NUMBER);
    asked.await();
    late.get(AT_ONCE);
    long sent = System.nanoTime();
    Thread.sleep(HELD_MILLIS);
    double heldSeconds = secondsSince(sent);
    released.countDown();
    late.response();
    double longest = secondsSince(started);
    assertThat(latenessOf(2)).isBetween(heldSeconds, longest + HELD_SECONDS / 2);
  }

  @Test
  void timeThatTheLoopWasIdleIsNoLateness() throws Exception {
    RawHttp http = connectAndUse();
    Thread.sleep(HELD_MILLIS);
    http.get(AT_ONCE).response();
    assertThat(latenessOf(2)).isBetween(0.0, HELD_SECONDS);
  }

  @Test
  void timeThatASleepingLoopWaitedForTheCpuIsLateness() throws Exception {
    RawHttp http = connectAndUse();
    Thread.sleep(HELD_MILLIS);
    waitedPerLook = Duration.ofMillis(HELD_MILLIS / 2).toNanos();
    http.get(AT_ONCE).response();
    assertThat(latenessOf(2)).isBetween(HELD_SECONDS / 2, HELD_SECONDS);
  }

  @Test
  void timeThatTheLoopWaitedForTheCpuBeforeItTookAConnectionIsLateness() throws Exception {
    connectAndUse();
    Thread.sleep(HELD_MILLIS);
    waitedPerLook = Duration.ofMillis(HELD_MILLIS / 2).toNanos();
    RawHttp late = new RawHttp(listener.socket().getLocalPort());
    connections.add(late);
    late.get(AT_ONCE);
    loop.adopt(listener.accept());
    late.response();
    assertThat(latenessOf(2)).isBetween(HELD_SECONDS / 2, HELD_SECONDS);
  }

  @ParameterizedTest
  @ValueSource(longs = {HELD_MILLIS / 2, HELD_MILLIS * 2})
  void hangIsNoLatenessWhateverTheLoopDid(long hangMillis) throws Exception {
    RawHttp keeper = connect();
    RawHttp late = connectAndUse();
    keeper.get(ASKS_FOR_A_NUMBER);
    asked.await();
    late.get(AT_ONCE);
    behaviour.hang(Duration.ofMillis(hangMillis));
    long hung = System.nanoTime();
    Thread.sleep(HELD_MILLIS);
    double heldAfterHang = secondsSince(hung) - hangMillis / 1e3;
    released.countDown();
    late.response();
    double answeredAfterHang = secondsSince(hung) - hangMillis / 1e3;
    assertThat(latenessOf(2))
        .isBetween(Math.max(0, heldAfterHang), answeredAfterHang + BEFORE_HANG_SECONDS);
  }

  @Test
  void newConnectionIsServedAndCountedOnceTheLoopIsFree() throws Exception {
    RawHttp keeper = connect();
    String twoAtOnce =
        "GET /delay/0.001 HTTP/1.1\r\nHost: b\r\n\r\nGET %s HTTP/1.1\r\nHost: b\r\n\r\n";
    keeper.send(twoAtOnce.formatted(ASKS_FOR_A_NUMBER));
    asked.await();
    RawHttp late = connect().get(AT_ONCE);
    long sent = System.nanoTime();
    Thread.sleep(HELD_MILLIS);
    double heldSeconds = secondsSince(sent);
    long free = System.nanoTime();
    released.countDown();
    late.response();
    assertThat(secondsSince(free)).isLessThan(2);
    assertThat(latenessOf(2)).isGreaterThanOrEqualTo(heldSeconds);
  }

  @Test
  void countsWhatOnePollCannotReport() throws Exception {
    RawHttp keeper = connect();
    List<RawHttp> burst = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      burst.add(connectAndUse());
    }
    keeper.get(ASKS_FOR_A_NUMBER);
    asked.await();
    for (RawHttp http : burst) {
      http.get(AT_ONCE);
    }
    Thread.sleep(HELD_MILLIS);
    released.countDown();
    for (RawHttp http : burst) {
      http.response();
    }
    latenessOf(2 * burst.size());
    assertThat(answersLaterThan(HELD_SECONDS / 2)).isEqualTo(burst.size());
  }

  private long nextLong() {
    asked.countDown();
    try {
      released.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return 0;
  }

  private RawHttp connect() throws IOException {
    RawHttp http = new RawHttp(listener.socket().getLocalPort());
    connections.add(http);
    loop.adopt(listener.accept());
    return http;
  }

  /** So that the loop is known to have taken it over. */
  private RawHttp connectAndUse() throws IOException {
    RawHttp http = connect().get(AT_ONCE);
    http.response();
    return http;
  }

  /** In seconds, of all the answers together, so many; ends the loop, for its last word. */
  private double latenessOf(int answers) {
    loop.stop();
    long started = System.nanoTime();
    while (loop.isAlive()) {
      assertThat(secondsSince(started)).isLessThan(10);
    }
    assertThat(loop.counters().answered()).isEqualTo(answers);
    return loop.counters().latenessSeconds();
  }

  private long answersLaterThan(double bucketSeconds) {
    return IntStream.rangeClosed(1, LoopCounters.LATENESS_SECONDS.length)
        .filter(bucket -> LoopCounters.LATENESS_SECONDS[bucket - 1] >= bucketSeconds)
        .mapToLong(loop.counters()::lateness)
        .sum();
  }

  private static double secondsSince(long started) {
    return (System.nanoTime() - started) / 1e9;
  }
}
