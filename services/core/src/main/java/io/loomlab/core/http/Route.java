package io.loomlab.core.http;

/**
 * What a method and a path name, for servers without a router of their own.
 *
 * @param endpoint null for /about
 * @param argument the path's last segment where it is no part of the endpoint's name, else null
 */
public record Route(Endpoint endpoint, String argument) {
  private static final Route ABOUT = new Route(null, null);
  private static final Route CAPABILITIES = new Route(Endpoint.CAPABILITIES, null);
  private static final Route MEETINGS = new Route(Endpoint.MEETINGS, null);
  private static final Route EPOCH_MILLIS = new Route(Endpoint.EPOCH_MILLIS, null);
  private static final Route MOVIES = new Route(Endpoint.MOVIES, null);
  private static final Route SAVE_MOVIES = new Route(Endpoint.SAVE_MOVIES, null);
  private static final Route PINNED = new Route(Endpoint.PINNED, null);
  private static final String BLOCK_PREFIX = "/httpbin/block/";
  private static final String EPOCH_MILLIS_PREFIX = Endpoint.EPOCH_MILLIS_PATH + "/";

  /**
   * The route of a request.
   *
   * @param path without the query
   * @throws RefusedException 404 or 405
   */
  public static Route of(String method, String path) {
    boolean get = method.equals("GET");
    if (path.equals(Endpoint.MOVIES_PATH) && method.equals("POST")) {
      return SAVE_MOVIES;
    }
    Route route = byPath(path);
    if (!get) {
      throw RefusedException.method(route == MOVIES ? "GET,POST" : "GET");
    }
    return route;
  }

  private static Route byPath(String path) {
    return switch (path) {
      case Endpoint.CAPABILITIES_PATH -> CAPABILITIES;
      case Endpoint.MEETINGS_PATH -> MEETINGS;
      case Endpoint.EPOCH_MILLIS_PATH -> EPOCH_MILLIS;
      case Endpoint.MOVIES_PATH -> MOVIES;
      case Endpoint.PINNED_PATH -> PINNED;
      case Endpoint.ABOUT_PATH -> ABOUT;
      default ->
          path.startsWith(EPOCH_MILLIS_PREFIX)
              ? withArgument(Endpoint.EPOCH_MILLIS, EPOCH_MILLIS_PREFIX, path)
              : withArgument(Endpoint.BLOCK, BLOCK_PREFIX, path);
    };
  }

  private static Route withArgument(Endpoint endpoint, String prefix, String path) {
    String argument = path.startsWith(prefix) ? path.substring(prefix.length()) : "";
    if (argument.isEmpty() || argument.indexOf('/') >= 0) {
      throw RefusedException.of(404);
    }
    return new Route(endpoint, argument);
  }
}
