package io.loomlab.core.http;

/** The measured endpoints: what a request asks for, by method and path. */
public enum Endpoint {
  CAPABILITIES(Endpoint.CAPABILITIES_PATH),
  MEETINGS(Endpoint.MEETINGS_PATH),
  EPOCH_MILLIS(Endpoint.EPOCH_MILLIS_PATH),
  MOVIES(Endpoint.MOVIES_PATH),
  SAVE_MOVIES("POST " + Endpoint.MOVIES_PATH),
  BLOCK(Endpoint.BLOCK_PATH),
  PINNED(Endpoint.PINNED_PATH),
  ORDER(Endpoint.ORDER_PATH),
  ORDERS(Endpoint.ORDERS_PATH),
  PLACE_ORDER("POST " + Endpoint.ORDERS_PATH),
  SLOW(Endpoint.SLOW_PATH);

  public static final String CAPABILITIES_PATH = "/capabilities";
  public static final String MEETINGS_PATH = "/meetings";
  public static final String EPOCH_MILLIS_PATH = "/epoch-millis";

  /**
   * What loom-vs-webflux and an early loom-webflux-benchmarks ask for. Its last segment names an
   * approach and is ignored.
   */
  public static final String EPOCH_MILLIS_OF_PATH = EPOCH_MILLIS_PATH + "/{approach}";

  public static final String MOVIES_PATH = "/movies";
  public static final String BLOCK_PATH = "/httpbin/block/{seconds}";
  public static final String PINNED_PATH = "/pinned";
  public static final String ORDERS_PATH = "/orders";
  public static final String ORDER_PATH = ORDERS_PATH + "/{id}";
  public static final String SLOW_PATH = ORDERS_PATH + "/slow";
  public static final String ABOUT_PATH = "/about";

  private final String label;

  Endpoint(String label) {
    this.label = label;
  }

  /** The path, for other methods than GET after the method: metric label and key in /about. */
  public String label() {
    return label;
  }

  /** Whether it exists only where there is a database. */
  public boolean ofDatabase() {
    return ordinal() >= ORDER.ordinal();
  }
}
