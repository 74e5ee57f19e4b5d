package io.loomlab.core.http;

/** The measured endpoints: what a request asks for, by method and path. */
public enum Endpoint {
  CAPABILITIES(Endpoint.CAPABILITIES_PATH),
  MEETINGS(Endpoint.MEETINGS_PATH),
  EPOCH_MILLIS(Endpoint.EPOCH_MILLIS_PATH),
  MOVIES(Endpoint.MOVIES_PATH),
  SAVE_MOVIES("POST " + Endpoint.MOVIES_PATH),
  BLOCK(Endpoint.BLOCK_PATH),
  PINNED(Endpoint.PINNED_PATH);

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
  public static final String ABOUT_PATH = "/about";

  private final String label;

  Endpoint(String label) {
    this.label = label;
  }

  /** The path, for other methods than GET after the method: metric label and key in /about. */
  public String label() {
    return label;
  }
}
