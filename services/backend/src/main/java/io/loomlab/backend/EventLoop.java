package io.loomlab.backend;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.LongSupplier;

/** One thread with its connections and its deadlines. */
final class EventLoop {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SWEEP_NANOS = Duration.ofSeconds(5).toNanos();

  /** Linux's selector takes 1024 at once, a wake-up among them, and may leave others behind. */
  private static final int FULL_POLL = 1023;

  /** Through the JDK, where Netty has no transport of its own, a call costs more. */
  private static final boolean NATIVE = Epoll.isAvailable();

  private final Thread thread;
  private final ManualIoEventLoop io;

  /** The same: what registers channels is deprecated in the class alone. */
  private final EventLoopGroup group;

  private final LoopBehaviour behaviour;
  private final LongSupplier cpuWaitNanos;
  private final LoopCounters counters = new LoopCounters();
  private final Set<Connection> connections = new HashSet<>();
  private final PriorityQueue<PendingAnswer> answers =
      new PriorityQueue<>(Comparator.comparingLong(PendingAnswer::deadlineNanos));
  private volatile boolean running = true;
  private long sweepNanos = System.nanoTime() + SWEEP_NANOS;
  private boolean batchStarted;
  private int batchSize;
  private long batchNanos;
  private long polledNanos = System.nanoTime();
  private boolean foundWaiting;
  private long waitedNanos;
  private long unreadNanos;

  /**
   * @param cpuWaitNanos how long the thread that asks has waited for a CPU so far
   */
  EventLoop(int number, LoopBehaviour behaviour, LongSupplier cpuWaitNanos) {
    this.behaviour = behaviour;
    this.cpuWaitNanos = cpuWaitNanos;
    thread = new Thread(this::run, "loop-" + number);
    io =
        new ManualIoEventLoop(
            thread, NATIVE ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    group = io;
  }

  static ServerSocketChannel newListener() {
    return NATIVE ? new EpollServerSocketChannel() : new NioServerSocketChannel();
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
    io.wakeup();
  }

  /** Serves a listener, from any thread. */
  void listen(Channel listener) {
    group.register(listener).syncUninterruptibly();
  }

  /** Takes over a connection, from any thread. */
  void adopt(SocketChannel channel) {
    counters.opened();
    channel.config().setTcpNoDelay(true).setAllowHalfClosure(true);
    channel
        .pipeline()
        .addLast(
            new HttpRequestDecoder(new HttpDecoderConfig().setMaxInitialLineLength(8192)),
            new Connection(this, behaviour));
    group.register(channel);
  }

  /** To be called on this loop. */
  void add(Connection connection) {
    connections.add(connection);
  }

  /** To be called on this loop. */
  void remove(Connection connection) {
    connections.remove(connection);
    counters.closed();
  }

  /** Has an answer sent when it is due. To be called on this loop. */
  void await(PendingAnswer answer) {
    answers.add(answer);
  }

  /** Of each connection that is read. The first one tells when the selector reported them. */
  void beginReading() {
    batchSize++;
    if (!batchStarted) {
      batchStarted = true;
      batchNanos = System.nanoTime();
      unreadNanos = foundWaiting ? batchNanos - polledNanos : waitedForCpuNanos();
    }
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
    while (running) {
      poll();
      meetDeadlines();
    }
    connections.forEach(Connection::close);
    io.shutdownGracefully();
    while (!io.isTerminated()) {
      io.runNow();
    }
  }

  /**
   * Looks without waiting first, to tell what had come before from what the loop waited for. That
   * takes a wake-up away, so it waits only with nothing left that could have been the reason. A
   * poll that only took over new connections has not read them: they may have waited since the one
   * before.
   */
  private void poll() {
    batchStarted = false;
    batchSize = 0;
    foundWaiting = true;
    if (io.runNow() == 0 && running) {
      foundWaiting = false;
      waitedNanos = cpuWaitNanos.getAsLong();
      io.run(nanosToNextDeadline());
    }
    if (batchStarted) {
      polledNanos = batchSize < FULL_POLL ? batchNanos : batchNanos - unreadNanos;
    } else if (!foundWaiting) {
      polledNanos = System.nanoTime() - waitedForCpuNanos();
    }
  }

  private long waitedForCpuNanos() {
    return cpuWaitNanos.getAsLong() - waitedNanos;
  }

  /** Whole milliseconds: a shorter wait would end in spinning, and look like a busy backend. */
  private long nanosToNextDeadline() {
    long nanos = Math.min(sweepNanos, nextAnswerNanos()) - System.nanoTime();
    return Math.max(1, (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI) * NANOS_PER_MILLI;
  }

  private long nextAnswerNanos() {
    PendingAnswer next = answers.peek();
    return next == null ? Long.MAX_VALUE : behaviour.dueNanos(next.deadlineNanos());
  }

  private void meetDeadlines() {
    batchNanos = System.nanoTime();
    unreadNanos = 0;
    long due = nextAnswerNanos();
    while (due <= batchNanos) {
      PendingAnswer answer = answers.remove();
      answer.connection().answerDue(answer, due);
      due = nextAnswerNanos();
    }
    if (sweepNanos <= batchNanos) {
      sweepNanos = batchNanos + SWEEP_NANOS;
      Set.copyOf(connections).forEach(connection -> connection.closeIfIdle(batchNanos));
    }
  }
}
