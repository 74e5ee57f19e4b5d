package io.loomlab.clients;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.loomlab.core.http.Answer;
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
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Function;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.DriverInfo;

/** The orders by JDBC: PostgreSQL's own driver, and HikariCP. Callers wait. */
public final class JdbcOrders implements Function<OfDatabase, Answer>, DatabaseClient {
  private static final String ORDER = Orders.forJdbc(Orders.ORDER);
  private static final String LINES = Orders.forJdbc(Orders.LINES);
  private static final String OF_CUSTOMER = Orders.forJdbc(Orders.OF_CUSTOMER);
  private static final String SLEEP = Orders.forJdbc(Orders.SLEEP);
  private static final String CHARGE = Orders.forJdbc(Orders.CHARGE);
  private static final String PLACE = Orders.forJdbc(Orders.PLACE);
  private static final String ADD_LINE = Orders.forJdbc(Orders.ADD_LINE);

  /**
   * HikariCP asks the database before it hands out a connection that rested for half a second,
   * which r2dbc-pool never does: here as late as the backend's client does so.
   */
  private static final String PROBE_AFTER = "com.zaxxer.hikari.aliveBypassWindowMs";

  private static final long PROBE_AFTER_MS = 10_000;

  private static final String POOL_PROPERTIES =
      "/META-INF/maven/com.zaxxer/HikariCP/pom.properties";

  /** The shortest that HikariCP takes. */
  private static final long SHORTEST_MS = 250;

  private static final long LONGEST_PROBE_MS = 5_000;

  private final DatabaseMetrics metrics;
  private final PGSimpleDataSource driver;
  private final HikariDataSource pool;
  private final long responseTimeoutMs;

  public JdbcOrders(Settings settings, DatabaseMetrics metrics) {
    this.metrics = metrics;
    System.setProperty(PROBE_AFTER, Long.toString(PROBE_AFTER_MS));
    responseTimeoutMs = settings.responseTimeout().toMillis();
    driver = driver(settings);
    HikariConfig config = new HikariConfig();
    config.setPoolName("database");
    config.setDataSource(driver);
    config.setMaximumPoolSize(settings.database().connections());
    config.setConnectionTimeout(Math.max(SHORTEST_MS, settings.poolTimeout().toMillis()));
    config.setValidationTimeout(Math.min(LONGEST_PROBE_MS, config.getConnectionTimeout()));
    config.setInitializationFailTimeout(-1);
    config.setMaxLifetime(0);
    config.setKeepaliveTime(0);
    pool = new HikariDataSource(config);
    HikariPoolMXBean live = pool.getHikariPoolMXBean();
    metrics.watch(
        live::getTotalConnections, live::getActiveConnections, live::getThreadsAwaitingConnection);
  }

  @Override
  public Answer apply(OfDatabase asked) {
    try (Connection connection = connection()) {
      return switch (asked) {
        case FindOrder order -> found(connection, order.id());
        case OrdersOf orders -> listed(connection, orders.customer());
        case PlaceOrder order -> placed(connection, order.order());
        case Slow slow -> slept(connection, slow.delay());
      };
    } catch (SQLException e) {
      throw isTimeout(e) ? DatabaseException.timeout(e) : DatabaseException.unusable(e);
    }
  }

  @Override
  public About.Database about() {
    return new About.Database(
        "jdbc",
        "postgresql " + DriverInfo.DRIVER_VERSION,
        "HikariCP " + poolVersion(),
        pool.getMaximumPoolSize(),
        Duration.ofSeconds(driver.getConnectTimeout()).toMillis(),
        responseTimeoutMs,
        pool.getConnectionTimeout(),
        Orders.ISOLATION,
        driver.getPrepareThreshold(),
        null,
        Map.of("probes_after_ms", Long.getLong(PROBE_AFTER)));
  }

  @Override
  public void close() {
    pool.close();
  }

  private Connection connection() {
    long asked = System.nanoTime();
    try {
      Connection connection = pool.getConnection();
      metrics.waited(System.nanoTime() - asked);
      return connection;
    } catch (SQLException e) {
      throw DatabaseException.unreachable(e);
    }
  }

  private static Answer found(Connection connection, long id) throws SQLException {
    Orders.Head head;
    try (PreparedStatement statement = connection.prepareStatement(ORDER)) {
      statement.setLong(1, id);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw Orders.unknownOrder();
        }
        head =
            new Orders.Head(
                row.getLong(1),
                row.getInt(2),
                row.getObject(3, LocalDate.class),
                row.getString(4),
                row.getLong(5));
      }
    }
    List<Orders.Line> lines = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(LINES)) {
      statement.setLong(1, id);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          lines.add(new Orders.Line(row.getString(1), row.getInt(2), row.getLong(3)));
        }
      }
    }
    return Orders.found(head, lines);
  }

  private static Answer listed(Connection connection, int customer) throws SQLException {
    List<Orders.OfCustomer> orders = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(OF_CUSTOMER)) {
      statement.setInt(1, customer);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          orders.add(
              new Orders.OfCustomer(
                  row.getLong(1),
                  row.getObject(2, LocalDate.class),
                  row.getString(3),
                  row.getLong(4)));
        }
      }
    }
    return Orders.listed(orders);
  }

  private static Answer slept(Connection connection, Duration wait) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SLEEP)) {
      statement.setDouble(1, wait.toMillis() / 1000.0);
      statement.executeQuery().close();
    }
    return Answer.json(Long.toString(wait.toMillis()));
  }

  /** When it fails for good, closing the connection rolls back. */
  private Answer placed(Connection connection, Orders.New order) throws SQLException {
    connection.setAutoCommit(false);
    for (int retries = 0; ; retries++) {
      try {
        Answer answer = placedOnce(connection, order);
        connection.commit();
        return answer;
      } catch (SQLException e) {
        if (!Orders.COLLISION.equals(e.getSQLState())) {
          throw e;
        }
        connection.rollback();
        if (retries == Orders.MOST_RETRIES) {
          throw DatabaseException.collided(e);
        }
        metrics.retried();
      }
    }
  }

  private static Answer placedOnce(Connection connection, Orders.New order) throws SQLException {
    try (PreparedStatement charge = connection.prepareStatement(CHARGE)) {
      charge.setLong(1, order.totalCents());
      charge.setInt(2, order.customer());
      if (charge.executeUpdate() == 0) {
        throw Orders.unknownCustomer();
      }
    }
    long id;
    try (PreparedStatement place = connection.prepareStatement(PLACE)) {
      place.setInt(1, order.customer());
      place.setLong(2, order.totalCents());
      try (ResultSet row = place.executeQuery()) {
        row.next();
        id = row.getLong(1);
      }
    }
    try (PreparedStatement line = connection.prepareStatement(ADD_LINE)) {
      line.setLong(1, id);
      line.setString(2, order.product());
      line.setInt(3, order.quantity());
      line.setLong(4, order.priceCents());
      line.executeUpdate();
    }
    return Orders.placed(id, order);
  }

  /** Its manifest has none where others have theirs. */
  private static String poolVersion() {
    Properties maven = new Properties();
    try (InputStream told = HikariDataSource.class.getResourceAsStream(POOL_PROPERTIES)) {
      maven.load(told);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return maven.getProperty("version");
  }

  private static boolean isTimeout(SQLException failure) {
    return failure.getCause() instanceof SocketTimeoutException;
  }

  private static PGSimpleDataSource driver(Settings settings) {
    Settings.Database database = settings.database();
    int responseTimeoutMillis = (int) settings.responseTimeout().toMillis();
    PGSimpleDataSource driver =
        new PGSimpleDataSource() {
          /** Its own property of that time-out is in whole seconds. */
          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            connection.setNetworkTimeout(Runnable::run, responseTimeoutMillis);
            return connection;
          }
        };
    driver.setServerNames(new String[] {database.host()});
    driver.setPortNumbers(new int[] {database.port()});
    driver.setDatabaseName(database.name());
    driver.setUser(database.user());
    driver.setPassword(database.password());
    driver.setSslMode("disable");
    driver.setPrepareThreshold(1);
    driver.setConnectTimeout((int) Math.ceilDiv(settings.connectTimeout().toMillis(), 1000));
    driver.setOptions(
        "-c %s=%s".formatted(Orders.ISOLATION_SETTING, Orders.ISOLATION.replace(" ", "\\ ")));
    return driver;
  }
}
