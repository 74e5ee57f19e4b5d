package io.loomlab.backend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;

/** One thread with its selector, its connections and its deadlines. */
final class EventLoop {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final Duration SWEEP = Duration.ofSeconds(5);

  /** Linux's selector takes 1024 at once, a wake-up among them, and may leave others behind. */
  private static final int FULL_POLL = 1023;

  private record TimedTask(long nanos, Runnable task) {}

  private final Thread thread;
  private final Selector selector;
  private final LoopBehaviour behaviour;
  private final ConnectionHandler handler;
  private final LongSupplier cpuWaitNanos;
  private final LoopCounters counters = new LoopCounters();
  private final Queue<SocketChannel> arrivals = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<TimedTask> tasks =
      new PriorityQueue<>(Comparator.comparingLong(TimedTask::nanos));
  private final PriorityQueue<PendingAnswer> answers =
      new PriorityQueue<>(Comparator.comparingLong(PendingAnswer::deadlineNanos));
  private volatile boolean running = true;
  private boolean batchStarted;
  private long batchNanos;
  private long polledNanos = System.nanoTime();
  private boolean foundWaiting;
  private long waitedNanos;
  private long unreadNanos;

  /**
   * @param cpuWaitNanos how long the thread that asks has waited for a CPU so far
   */
  EventLoop(int number, LoopBehaviour behaviour, LongSupplier cpuWaitNanos) throws IOException {
    selector = Selector.open();
    this.behaviour = behaviour;
    this.cpuWaitNanos = cpuWaitNanos;
    handler = new ConnectionHandler(this, behaviour);
    thread = new Thread(this::run, "loop-" + number);
  }

  LoopCounters counters() {
    return counters;
  }

  long threadId() {
    return thread.threadId();
  }

  boolean isAlive() {
    return thread.isAlive();
  }

  void start() {
    thread.start();
  }

  void stop() {
    running = false;
    wakeUp();
  }

  /** Looks at its deadlines anew, which a change of the behaviour may have moved. */
  void wakeUp() {
    selector.wakeup();
  }

  void listen(ServerSocketChannel listener, Acceptor acceptor) throws IOException {
    listener.register(selector, SelectionKey.OP_ACCEPT, acceptor);
  }

  /** Takes over a connection, from any thread. */
  void adopt(SocketChannel channel) {
    counters.opened();
    arrivals.add(channel);
    wakeUp();
  }

  /** Runs a task on this loop at a time of {@link System#nanoTime}. To be called on this loop. */
  void at(long nanos, Runnable task) {
    tasks.add(new TimedTask(nanos, task));
  }

  /** Has an answer sent when it is due. To be called on this loop. */
  void await(PendingAnswer answer) {
    answers.add(answer);
  }

  /** When the selector reported the sockets that are being read: all their bytes were there. */
  long batchNanos() {
    return batchNanos;
  }

  /**
   * The longest that what is being read may have been there before {@link #batchNanos}: what a poll
   * finds at once may have come at any time since the last poll that left nothing behind, and what
   * ends a wait of the loop had to wait until the loop got a CPU.
   */
  long unreadNanos() {
    return unreadNanos;
  }

  private void run() {
    sweep();
    try (selector) {
      while (running) {
        registerArrivals();
        poll();
        meetDeadlines();
      }
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Looks without waiting first, to tell what had come before from what the loop waited for. That
   * takes a wake-up away, so it waits only with nothing left that could have been the reason.
   */
  private void poll() throws IOException {
    batchStarted = false;
    foundWaiting = true;
    int found = selector.selectNow(this::ready);
    if (found == 0 && running && arrivals.isEmpty()) {
      foundWaiting = false;
      waitedNanos = cpuWaitNanos.getAsLong();
      found = selector.select(this::ready, millisToNextDeadline());
    }
    if (!batchStarted) {
      polledNanos = System.nanoTime() - (foundWaiting ? 0 : waitedForCpuNanos());
    } else {
      polledNanos = found < FULL_POLL ? batchNanos : batchNanos - unreadNanos;
    }
  }

  private long waitedForCpuNanos() {
    return cpuWaitNanos.getAsLong() - waitedNanos;
  }

  /** Rounded up: a shorter wait would end in spinning, and look like a busy backend. */
  private long millisToNextDeadline() {
    long next = Math.min(tasks.element().nanos, nextAnswerNanos());
    long nanos = next - System.nanoTime();
    return Math.max(1, (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
  }

  private long nextAnswerNanos() {
    PendingAnswer next = answers.peek();
    return next == null ? Long.MAX_VALUE : behaviour.dueNanos(next.deadlineNanos());
  }

  private void ready(SelectionKey key) {
    if (!batchStarted) {
      batchStarted = true;
      batchNanos = System.nanoTime();
      unreadNanos = foundWaiting ? batchNanos - polledNanos : waitedForCpuNanos();
    }
    if (key.attachment() instanceof Acceptor acceptor) {
      acceptor.accept(this, key);
    } else {
      handler.ready((Connection) key.attachment());
    }
  }

  private void registerArrivals() {
    for (SocketChannel channel = arrivals.poll(); channel != null; channel = arrivals.poll()) {
      handler.register(selector, channel);
    }
  }

  private void meetDeadlines() {
    batchNanos = System.nanoTime();
    unreadNanos = 0;
    while (tasks.element().nanos <= batchNanos) {
      tasks.remove().task.run();
    }
    long due = nextAnswerNanos();
    while (due <= batchNanos) {
      handler.answerDue(answers.remove(), due);
      due = nextAnswerNanos();
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    for (SelectionKey key : selector.keys()) {
      if (key.attachment() instanceof Connection connection) {
        handler.closeIfIdle(connection, now);
      }
    }
    at(now + SWEEP.toNanos(), this::sweep);
  }
}
