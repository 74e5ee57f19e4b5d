import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * One carrier thread, and requests at a constant rate that wait three times for a backend and then work: what the order in which the
 * carrier takes the threads that are ready makes of latency, after one pause. `java CarrierOrder.java [RATE [PAUSE_MS]]`, by default
 * 200 and 100, prints the median latency of the requests of every fifth second. The orders:
 *
 * - by arrival: whichever became ready first;
 * - own queue first: as JDK 25 does it by default on Linux with one carrier, where platform threads start the requests. New requests
 *   wait in a queue of the pool, and so does the virtual thread that polls sockets, once it was parked and an answer has come. A poll
 *   puts the threads whose answers have come, and then `Thread.yield` the polling thread, into the carrier's own queue. The carrier
 *   empties that one before it looks at another, and another before it looks at a third (JDK 25.0.3: `ForkJoinPool.runWorker` and
 *   `topLevelExec`, `Poller.subPollerLoop`, `VirtualThread.afterYield`);
 * - own queue first, requests polled: the same, but new requests are found by the poll, too, as where a virtual thread reads each
 *   connection.
 */
public final class CarrierOrder {
  enum Order {
    BY_ARRIVAL,
    OWN_QUEUE_FIRST,
    OWN_QUEUE_FIRST_REQUESTS_POLLED
  }

  static final double[] WORK_MS = {0.2, 0.2, 0.2, 2.2};
  static final double SECONDS = 60, PAUSE_AT_MS = 5_000, POLL_MS = 0.01;
  static final int MOST_EVENTS = 64; // of a poll: EPollPoller

  static final class Request {
    final double startMs;
    int stage;

    Request(double startMs) {
      this.startMs = startMs;
    }
  }

  record Ready(double atMs, Request request) {}

  static final Request POLLER = new Request(0);

  final Order order;
  final double pauseMs;
  final double waitSpreadMs;
  final Random random = new Random(1);
  final Deque<Ready> arrivals = new ArrayDeque<>();
  final PriorityQueue<Ready> answers = new PriorityQueue<>(Comparator.comparingDouble(Ready::atMs));
  final Deque<Request> own = new ArrayDeque<>();
  final Deque<Request> submitted = new ArrayDeque<>();
  final Deque<Request> pollerQueue = new ArrayDeque<>();
  final List<List<Double>> latenciesMs = new ArrayList<>();
  boolean pollerParked = true;
  boolean paused;
  double nowMs;
  double workedMs;

  CarrierOrder(Order order, double rate, double pauseMs, double waitSpreadMs) {
    this.order = order;
    this.pauseMs = pauseMs;
    this.waitSpreadMs = waitSpreadMs;
    for (int i = 0; i < rate * SECONDS; i++) {
      double atMs = 1_000 * i / rate;
      arrivals.add(new Ready(atMs, new Request(atMs)));
    }
    for (int second = 0; second < SECONDS; second++) {
      latenciesMs.add(new ArrayList<>());
    }
  }

  CarrierOrder run() {
    while (!arrivals.isEmpty() || !answers.isEmpty() || !own.isEmpty() || !submitted.isEmpty()) {
      look();
      if (!own.isEmpty()) {
        take(own.poll());
      } else if (!submitted.isEmpty() || !pollerQueue.isEmpty()) {
        empty(pollerQueue.isEmpty() || !submitted.isEmpty() && random.nextBoolean() ? submitted : pollerQueue);
      } else {
        nowMs = Math.max(nowMs, Math.min(next(arrivals.peek()), next(answers.peek())));
      }
    }
    return this;
  }

  void empty(Deque<Request> queue) {
    while (!queue.isEmpty()) {
      take(queue.poll());
      while (!own.isEmpty()) {
        look();
        take(own.poll());
      }
      look();
    }
  }

  /** What has become ready since. */
  void look() {
    if (!paused && nowMs >= PAUSE_AT_MS) {
      paused = true;
      nowMs += pauseMs;
    }
    while (next(arrivals.peek()) <= nowMs) {
      Ready arrival = arrivals.poll();
      if (order == Order.OWN_QUEUE_FIRST) {
        submitted.add(arrival.request);
      } else {
        answers.add(arrival);
      }
    }
    if (order == Order.BY_ARRIVAL) {
      if (own.isEmpty() && next(answers.peek()) <= nowMs) {
        own.add(answers.poll().request);
      }
    } else if (pollerParked && next(answers.peek()) <= nowMs) {
      pollerParked = false;
      pollerQueue.add(POLLER);
    }
  }

  void take(Request request) {
    if (request == POLLER) {
      poll();
      return;
    }
    nowMs += WORK_MS[request.stage];
    workedMs += WORK_MS[request.stage];
    if (++request.stage == WORK_MS.length) {
      latenciesMs.get((int) (request.startMs / 1_000)).add(nowMs - request.startMs);
    } else {
      answers.add(new Ready(nowMs + 300 + waitSpreadMs * (random.nextDouble() - 0.5), request));
    }
  }

  void poll() {
    nowMs += POLL_MS;
    pollerParked = next(answers.peek()) > nowMs;
    for (int event = 0; event < MOST_EVENTS && next(answers.peek()) <= nowMs; event++) {
      own.add(answers.poll().request);
    }
    if (!pollerParked) {
      own.add(POLLER);
    }
  }

  static double next(Ready ready) {
    return ready == null ? Double.POSITIVE_INFINITY : ready.atMs;
  }

  void print() {
    System.out.printf("%-32s waits 300 ±%3.0f ms, CPU busy %2.0f %%, p50:", order, waitSpreadMs / 2, 100 * workedMs / nowMs);
    for (int second = 4; second < SECONDS; second += 5) {
      List<Double> sorted = latenciesMs.get(second).stream().sorted().toList();
      System.out.printf(" %4.0f", sorted.get(sorted.size() / 2));
    }
    System.out.println();
  }

  public static void main(String[] arguments) {
    double rate = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 200;
    double pauseMs = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 100;
    for (Order order : Order.values()) {
      new CarrierOrder(order, rate, pauseMs, 0.2).run().print();
    }
    new CarrierOrder(Order.OWN_QUEUE_FIRST, rate, pauseMs, 200).run().print();
  }
}
