package io.loomlab.clients;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.ContractException;
import io.loomlab.core.http.DatabaseException;
import io.loomlab.core.http.ParsedRequest.FindOrder;
import io.loomlab.core.http.ParsedRequest.OfDatabase;
import io.loomlab.core.http.ParsedRequest.OrdersOf;
import io.loomlab.core.http.ParsedRequest.PlaceOrder;
import io.loomlab.core.http.ParsedRequest.Slow;
import io.loomlab.core.metrics.DatabaseMetrics;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.Orders;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.pool.PoolMetrics;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;
import reactor.util.retry.Retry;

/** The orders by R2DBC: PostgreSQL's own driver, and r2dbc-pool. No thread waits. */
public final class R2dbcOrders implements Function<OfDatabase, Mono<Answer>>, DatabaseClient {
  private static final boolean DAEMON = true;

  /** With it, connections that are made on a loop would all be that loop's. */
  private static final boolean COLOCATE = false;

  private final DatabaseMetrics metrics;
  private final Settings settings;
  private final LoopResources loops;
  private final ConnectionPool pool;
  private final PoolMetrics live;

  /**
   * The first request fills the pool, as HikariCP does at the start. {@code warmup()} must not: if
   * the database is not there yet, it loses what the pool may ever hold but for one connection.
   */
  public R2dbcOrders(Settings settings, DatabaseMetrics metrics) {
    this.settings = settings;
    this.metrics = metrics;
    loops =
        LoopResources.create(
            "database",
            LoopResources.DEFAULT_IO_SELECT_COUNT,
            LoopResources.DEFAULT_IO_WORKER_COUNT,
            DAEMON,
            COLOCATE);
    int connections = settings.database().connections();
    pool =
        new ConnectionPool(
            ConnectionPoolConfiguration.builder(driver(settings, loops))
                .initialSize(connections)
                .maxSize(connections)
                .maxAcquireTime(settings.poolTimeout())
                .maxIdleTime(null)
                .acquireRetry(0)
                .build());
    live = pool.getMetrics().orElseThrow();
    metrics.watch(live::allocatedSize, live::acquiredSize, live::pendingAcquireSize);
  }

  @Override
  public Mono<Answer> apply(OfDatabase asked) {
    return Mono.usingWhen(
            connection(),
            connection -> inTime(answer(connection, asked)),
            Connection::close,
            (connection, failure) ->
                failure instanceof TimeoutException ? abandon(connection) : connection.close(),
            R2dbcOrders::abandon)
        .onErrorMap(R2dbcOrders::failure);
  }

  @Override
  public About.Database about() {
    return new About.Database(
        "r2dbc",
        "r2dbc-postgresql "
            + PostgresqlConnectionFactory.class.getPackage().getImplementationVersion(),
        "r2dbc-pool " + ConnectionPool.class.getPackage().getImplementationVersion(),
        live.getMaxAllocatedSize(),
        settings.connectTimeout().toMillis(),
        settings.responseTimeout().toMillis(),
        settings.poolTimeout().toMillis(),
        Orders.ISOLATION,
        1,
        LoopResources.DEFAULT_IO_WORKER_COUNT,
        Map.of("colocate", COLOCATE));
  }

  @Override
  public void close() {
    pool.disposeLater().onErrorComplete().block();
    loops.dispose();
  }

  private Mono<Connection> connection() {
    return Mono.defer(
            () -> {
              long asked = System.nanoTime();
              return pool.create().doOnNext(got -> metrics.waited(System.nanoTime() - asked));
            })
        .onErrorMap(DatabaseException::unreachable);
  }

  /** The driver has no such time-out. */
  private Mono<Answer> inTime(Mono<Answer> answer) {
    Duration most = settings.responseTimeout();
    return most.isZero() ? answer : answer.timeout(most);
  }

  private Mono<Answer> answer(Connection connection, OfDatabase asked) {
    return switch (asked) {
      case FindOrder order -> found(connection, order.id());
      case OrdersOf orders ->
          rows(connection, Orders.OF_CUSTOMER, R2dbcOrders::ofCustomer, orders.customer())
              .collectList()
              .map(Orders::listed);
      case PlaceOrder order -> placed(connection, order.order());
      case Slow slow ->
          rows(connection, Orders.SLEEP, row -> true, slow.delay().toMillis() / 1000.0)
              .then(Mono.fromSupplier(() -> Answer.json(Long.toString(slow.delay().toMillis()))));
    };
  }

  private static Mono<Answer> found(Connection connection, long id) {
    return rows(connection, Orders.ORDER, R2dbcOrders::head, id)
        .singleOrEmpty()
        .switchIfEmpty(Mono.error(Orders::unknownOrder))
        .flatMap(
            head ->
                rows(connection, Orders.LINES, R2dbcOrders::line, id)
                    .collectList()
                    .map(lines -> Orders.found(head, lines)));
  }

  /** When it fails for good, closing the connection rolls back. */
  private Mono<Answer> placed(Connection connection, Orders.New order) {
    return Mono.from(connection.beginTransaction())
        .then(Mono.defer(() -> placedOnce(connection, order)))
        .delayUntil(placed -> connection.commitTransaction())
        .onErrorResume(
            R2dbcOrders::isCollision,
            collision -> Mono.from(connection.rollbackTransaction()).then(Mono.error(collision)))
        .retryWhen(
            Retry.max(Orders.MOST_RETRIES)
                .filter(R2dbcOrders::isCollision)
                .doBeforeRetry(again -> metrics.retried())
                .onRetryExhaustedThrow(
                    (retries, last) -> DatabaseException.collided(last.failure())));
  }

  private static Mono<Answer> placedOnce(Connection connection, Orders.New order) {
    return updated(connection, Orders.CHARGE, order.totalCents(), order.customer())
        .filter(customers -> customers > 0)
        .switchIfEmpty(Mono.error(Orders::unknownCustomer))
        .flatMap(
            customers ->
                rows(
                        connection,
                        Orders.PLACE,
                        row -> row.get(0, Long.class),
                        order.customer(),
                        order.totalCents())
                    .single())
        .flatMap(
            id ->
                updated(
                        connection,
                        Orders.ADD_LINE,
                        id,
                        order.product(),
                        order.quantity(),
                        order.priceCents())
                    .thenReturn(Orders.placed(id, order)));
  }

  private static <T> Flux<T> rows(
      Connection connection, String sql, Function<Readable, T> read, Object... values) {
    return results(connection, sql, values).flatMap(result -> result.map(read));
  }

  private static Mono<Long> updated(Connection connection, String sql, Object... values) {
    return results(connection, sql, values).flatMap(Result::getRowsUpdated).single();
  }

  private static Flux<Result> results(Connection connection, String sql, Object... values) {
    Statement statement = connection.createStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.bind(i, values[i]);
    }
    return Flux.from(statement.execute());
  }

  private static Orders.Head head(Readable row) {
    return new Orders.Head(
        row.get(0, Long.class),
        row.get(1, Integer.class),
        row.get(2, LocalDate.class),
        row.get(3, String.class),
        row.get(4, Long.class));
  }

  private static Orders.Line line(Readable row) {
    return new Orders.Line(
        row.get(0, String.class), row.get(1, Integer.class), row.get(2, Long.class));
  }

  private static Orders.OfCustomer ofCustomer(Readable row) {
    return new Orders.OfCustomer(
        row.get(0, Long.class),
        row.get(1, LocalDate.class),
        row.get(2, String.class),
        row.get(3, Long.class));
  }

  /**
   * Ends a connection whose answer nobody waits for: given back to the pool, it would keep the next
   * request waiting for that answer, too.
   */
  private static Mono<Void> abandon(Connection connection) {
    Mono<Void> ended =
        connection instanceof Wrapped<?> pooled && pooled.unwrap() instanceof Connection own
            ? Mono.from(own.close()).onErrorComplete()
            : Mono.empty();
    return ended.then(Mono.from(connection.close())).onErrorComplete();
  }

  private static boolean isCollision(Throwable failure) {
    return failure instanceof R2dbcException known && Orders.COLLISION.equals(known.getSqlState());
  }

  private static Throwable failure(Throwable cause) {
    return switch (cause) {
      case ContractException known -> known;
      case TimeoutException late -> DatabaseException.timeout(late);
      case R2dbcException refused -> DatabaseException.unusable(refused);
      default -> cause;
    };
  }

  private static PostgresqlConnectionFactory driver(Settings settings, LoopResources loops) {
    Settings.Database database = settings.database();
    PostgresqlConnectionConfiguration.Builder driver =
        PostgresqlConnectionConfiguration.builder()
            .host(database.host())
            .port(database.port())
            .database(database.name())
            .username(database.user())
            .password(database.password())
            .tcpNoDelay(true)
            .loopResources(loops)
            .options(Map.of(Orders.ISOLATION_SETTING, Orders.ISOLATION));
    if (!settings.connectTimeout().isZero()) {
      driver.connectTimeout(settings.connectTimeout());
    }
    return new PostgresqlConnectionFactory(driver.build());
  }
}
