package io.loomlab.backend;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/** Which answer a request target gets. */
final class Routes {
  private static final BigDecimal LONGEST_DELAY_SECONDS = BigDecimal.valueOf(60);
  private static final Pattern DECIMAL = Pattern.compile("\\d{1,2}(\\.\\d{1,9})?");
  private static final String AUTHORIZATION = "/authorization/";
  private static final String DELAY = "/delay/";
  private static final Answer BAD_REQUEST = Answer.error(400);
  private static final Answer NOT_FOUND = Answer.error(404);

  private final Map<String, Answer> fixed;
  private final Answer authentication;
  private final Answer admin;
  private final Answer user;

  Routes(Duration delay) {
    long nanos = delay.toNanos();
    authentication = Answer.text(new UUID(0, 0).toString(), nanos);
    admin = Answer.text("ADMIN", nanos);
    user = Answer.text("USER", nanos);
    fixed =
        Map.of(
            "/capabilities/ADMIN", Answer.text("EVERYTHING", nanos),
            "/capabilities/USER", Answer.text("READ_ONLY", nanos),
            "/authenticate", Answer.json("{\"userId\":\"abc123\"}", nanos),
            "/authorize", Answer.json("{\"authorities\":[\"get-meetings\"]}", nanos),
            "/meetings",
                Answer.json(
                    "{\"meetings\":[{\"time\":\"now\",\"subject\":\"tech-talk\"}]}", nanos));
  }

  Answer answer(String target) {
    int query = target.indexOf('?');
    String path = query < 0 ? target : target.substring(0, query);
    if (path.equals("/authentication")) {
      return authentication.withBody(randomUuid());
    }
    if (path.startsWith(AUTHORIZATION)) {
      return authorization(path.substring(AUTHORIZATION.length()));
    }
    if (path.startsWith(DELAY)) {
      return delay(path.substring(DELAY.length()));
    }
    return fixed.getOrDefault(path, NOT_FOUND);
  }

  private Answer authorization(String token) {
    if (!isUuid(token)) {
      return BAD_REQUEST;
    }
    return Character.digit(token.charAt(token.length() - 1), 16) % 2 == 0 ? admin : user;
  }

  private static Answer delay(String seconds) {
    if (!DECIMAL.matcher(seconds).matches()
        || new BigDecimal(seconds).compareTo(LONGEST_DELAY_SECONDS) > 0) {
      return BAD_REQUEST;
    }
    return Answer.text(seconds, new BigDecimal(seconds).movePointRight(9).longValue());
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

  private static String randomUuid() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    long version4 = random.nextLong() & 0xFFFF_FFFF_FFFF_0FFFL | 0x4000L;
    long variant2 = random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL | 0x8000_0000_0000_0000L;
    return new UUID(version4, variant2).toString();
  }
}
