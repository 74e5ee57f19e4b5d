package io.loomlab.contract;

/** Requests of the capabilities chain; each needs the answer of the one before. */
public final class BackendPaths {
  public static final String AUTHENTICATION = "/authentication";

  private static final String AUTHORIZATION = "/authorization/";
  private static final String CAPABILITIES = "/capabilities/";

  private BackendPaths() {}

  public static String authorization(String token) {
    return AUTHORIZATION + token;
  }

  public static String capabilities(String role) {
    return CAPABILITIES + role;
  }
}
