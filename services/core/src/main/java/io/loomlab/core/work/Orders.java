package io.loomlab.core.work;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Json;
import io.loomlab.core.http.RefusedException;
import java.time.LocalDate;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectReader;

/**
 * What is asked of the database, and what is answered of it: the same statements, records and bytes
 * by whatever driver. Parameters are $1, $2 and so on, each once and in this order, as PostgreSQL
 * has them; {@link #forJdbc} gives the same statement as JDBC has it.
 */
public final class Orders {
  public static final String ORDER =
      "select id, customer, placed_on, status, total_cents from orders where id = $1";
  public static final String LINES =
      "select product, quantity, price_cents from lines where order_id = $1 order by position";

  /** A limit, so that orders that are placed change no answer. */
  public static final String OF_CUSTOMER =
      "select id, placed_on, status, total_cents from orders"
          + " where customer = $1 order by id limit 50";

  public static final String SLEEP = "select pg_sleep($1)";

  /** The three statements of a new order, in one transaction. Two of one customer may collide. */
  public static final String CHARGE =
      "update customers set orders = orders + 1, spent_cents = spent_cents + $1 where id = $2";

  public static final String PLACE =
      "insert into orders (customer, total_cents) values ($1, $2) returning id";
  public static final String ADD_LINE =
      "insert into lines (order_id, position, product, quantity, price_cents)"
          + " values ($1, 1, $2, $3, $4)";

  /** Of every transaction, by a setting of the session. */
  public static final String ISOLATION = "repeatable read";

  public static final String ISOLATION_SETTING = "default_transaction_isolation";

  /** SQLSTATE of a transaction that may be tried again. */
  public static final String COLLISION = "40001";

  /** How often it is. */
  public static final int MOST_RETRIES = 3;

  /** No characters that drivers would encode or refuse in different ways. */
  private static final Pattern PRODUCT = Pattern.compile("[ -~]{1,100}");

  private static final int MOST = 1_000_000;
  private static final ObjectReader READER = Json.reader(New.class);

  private Orders() {}

  /** An order without its lines. */
  public record Head(long id, int customer, LocalDate placedOn, String status, long totalCents) {}

  /** An order. */
  public record Order(
      long id,
      int customer,
      LocalDate placedOn,
      String status,
      long totalCents,
      List<Line> lines) {}

  /** What of an order is for one product. */
  public record Line(String product, int quantity, long priceCents) {}

  /** One of a customer's orders. */
  public record OfCustomer(long id, LocalDate placedOn, String status, long totalCents) {}

  /** An order that was placed. */
  public record Placed(long id, long totalCents) {}

  /** An order to be placed. */
  public record New(int customer, String product, int quantity, long priceCents) {
    public long totalCents() {
      return quantity * priceCents;
    }
  }

  /**
   * A request's body.
   *
   * @throws RefusedException 400 unless it is a JSON object with all four members
   */
  public static New read(byte[] json) {
    try {
      New order = READER.readValue(json);
      if (order != null && complete(order)) {
        return order;
      }
    } catch (JacksonException e) {
      // falls through to the one sentence for every unusable body
    }
    throw RefusedException.of(400, "The body is not a JSON order of one product.");
  }

  /** What a statement is to a driver that numbers no parameters. */
  public static String forJdbc(String statement) {
    return statement.replaceAll("\\$\\d", "?");
  }

  /** The answer with an order and its lines. */
  public static Answer found(Head head, List<Line> lines) {
    return Answer.json(
        Json.plainBytes(
            new Order(head.id, head.customer, head.placedOn, head.status, head.totalCents, lines)));
  }

  /** The answer with a customer's orders. */
  public static Answer listed(List<OfCustomer> orders) {
    return Answer.json(Json.plainBytes(orders));
  }

  /** The answer with the number of a new order. */
  public static Answer placed(long id, New order) {
    return Answer.created(Json.plainBytes(new Placed(id, order.totalCents())));
  }

  /** 404. */
  public static RefusedException unknownOrder() {
    return RefusedException.of(404, "There is no order of this number.");
  }

  /** 404. */
  public static RefusedException unknownCustomer() {
    return RefusedException.of(404, "There is no customer of this number.");
  }

  private static boolean complete(New order) {
    return order.customer > 0
        && order.product != null
        && PRODUCT.matcher(order.product).matches()
        && order.quantity > 0
        && order.quantity <= MOST
        && order.priceCents > 0
        && order.priceCents <= MOST;
  }
}
