package io.loomlab.contract;

/** The measured endpoints. */
public enum Endpoint {
  CAPABILITIES(Endpoint.CAPABILITIES_PATH);

  public static final String CAPABILITIES_PATH = "/capabilities";
  public static final String ABOUT_PATH = "/about";

  private final String path;

  Endpoint(String path) {
    this.path = path;
  }

  public String path() {
    return path;
  }
}
