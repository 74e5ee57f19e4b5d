package io.loomlab.backend;

import java.math.BigDecimal;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/** Which answer a request target gets. */
final class Routes {
  private static final BigDecimal LONGEST_DELAY_SECONDS = BigDecimal.valueOf(60);
  private static final Pattern DECIMAL = Pattern.compile("\\d{1,2}(\\.\\d{1,9})?");
  private static final String AUTHORIZATION = "/authorization/";
  private static final String DELAY = "/delay/";
  private static final BackendAnswer BAD_REQUEST = BackendAnswer.error(400);
  private static final BackendAnswer NOT_FOUND = BackendAnswer.error(404);
  private static final BackendAnswer AUTHENTICATION = BackendAnswer.text(new UUID(0, 0).toString());
  private static final BackendAnswer ADMIN = BackendAnswer.text("ADMIN");
  private static final BackendAnswer USER = BackendAnswer.text("USER");
  private static final Map<String, BackendAnswer> FIXED =
      Map.of(
          "/capabilities/ADMIN", BackendAnswer.text("EVERYTHING"),
          "/capabilities/USER", BackendAnswer.text("READ_ONLY"),
          "/authenticate", BackendAnswer.json("{\"userId\":\"abc123\"}"),
          "/authorize", BackendAnswer.json("{\"authorities\":[\"get-meetings\"]}"),
          "/meetings",
              BackendAnswer.json("{\"meetings\":[{\"time\":\"now\",\"subject\":\"tech-talk\"}]}"));

  private Routes() {}

  /**
   * The answer to a request.
   *
   * @param random makes the tokens of /authentication
   */
  static BackendAnswer answer(String target, RandomGenerator random) {
    int query = target.indexOf('?');
    String path = query < 0 ? target : target.substring(0, query);
    if (path.equals("/authentication")) {
      return AUTHENTICATION.withBody(randomUuid(random));
    }
    if (path.startsWith(AUTHORIZATION)) {
      return authorization(path.substring(AUTHORIZATION.length()));
    }
    if (path.startsWith(DELAY)) {
      return delay(path.substring(DELAY.length()));
    }
    return FIXED.getOrDefault(path, NOT_FOUND);
  }

  private static BackendAnswer authorization(String token) {
    if (!isUuid(token)) {
      return BAD_REQUEST;
    }
    return Character.digit(token.charAt(token.length() - 1), 16) % 2 == 0 ? ADMIN : USER;
  }

  private static BackendAnswer delay(String seconds) {
    if (!DECIMAL.matcher(seconds).matches()
        || new BigDecimal(seconds).compareTo(LONGEST_DELAY_SECONDS) > 0) {
      return BAD_REQUEST;
    }
    return BackendAnswer.text(seconds, new BigDecimal(seconds).movePointRight(9).longValue());
  }

  private static boolean isUuid(String token) {
    if (token.length() != 36) {
      return false;
    }
    for (int i = 0; i < 36; i++) {
      char c = token.charAt(i);
      boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
      if (dash ? c != '-' : Character.digit(c, 16) < 0) {
        return false;
      }
    }
    return true;
  }

  private static String randomUuid(RandomGenerator random) {
    long version4 = random.nextLong() & 0xFFFF_FFFF_FFFF_0FFFL | 0x4000L;
    long variant2 = random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL | 0x8000_0000_0000_0000L;
    return new UUID(version4, variant2).toString();
  }
}
