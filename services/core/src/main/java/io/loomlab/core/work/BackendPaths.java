package io.loomlab.core.work;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.http.Json;
import io.loomlab.core.http.RefusedException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectReader;

/**
 * Requests to the backend. Those that need the answer of the one before throw a {@link
 * BackendException} if that answer is not what was asked for.
 */
public final class BackendPaths {
  public static final String AUTHENTICATION = "/authentication";

  /** What every client sends as its User-Agent. */
  public static final String USER_AGENT = "loom-lab";

  private static final int LONGEST_SEGMENT = 64;
  private static final ObjectReader USER = Json.reader(User.class);
  private static final ObjectReader AUTHORITIES = Json.reader(Authorities.class);

  private record User(String userId) {}

  private record Authorities(List<String> authorities) {}

  private BackendPaths() {}

  public static String authorization(String token) {
    return "/authorization/" + segment(token);
  }

  public static String capabilities(String role) {
    return "/capabilities/" + segment(role);
  }

  /** First call of /meetings. */
  public static String authenticate(String authorization) {
    return "/authenticate?token=" + URLEncoder.encode(authorization, StandardCharsets.UTF_8);
  }

  /** The user id in the answer to {@link #authenticate}. */
  public static String userId(String json) {
    User user = read(json, USER);
    return segment(user.userId());
  }

  /** Second call of /meetings. */
  public static String authorize(String userId) {
    return "/authorize?id=" + userId;
  }

  /**
   * Third call of /meetings, if the answer to the second allows it.
   *
   * @throws RefusedException 403 if it does not
   */
  public static String meetings(String userId, String authorizeJson) {
    Authorities granted = read(authorizeJson, AUTHORITIES);
    if (granted.authorities() == null) {
      throw BackendException.unusable("The backend named no authorities");
    }
    if (!granted.authorities().contains("get-meetings")) {
      throw RefusedException.of(403);
    }
    return "/meetings?id=" + userId;
  }

  public static String delay(String seconds) {
    return "/delay/" + seconds;
  }

  private static <T> T read(String json, ObjectReader reader) {
    try {
      T value = reader.readValue(json);
      if (value != null) {
        return value;
      }
    } catch (JacksonException e) {
      throw BackendException.unusable(e);
    }
    throw BackendException.unusable("The backend answered JSON null");
  }

  /**
   * What the backend answered, if it can stand in a path or a query as it is.
   *
   * @throws BackendException if it cannot
   */
  public static String segment(String answer) {
    if (answer == null || answer.isEmpty() || answer.length() > LONGEST_SEGMENT) {
      throw BackendException.unusable("The backend's answer cannot stand in a path");
    }
    for (int i = 0; i < answer.length(); i++) {
      char c = answer.charAt(i);
      boolean plain =
          c >= '0' && c <= '9'
              || c >= 'a' && c <= 'z'
              || c >= 'A' && c <= 'Z'
              || c == '-'
              || c == '_';
      if (!plain) {
        throw BackendException.unusable("The backend's answer cannot stand in a path");
      }
    }
    return answer;
  }
}
