package io.loomlab.backend;

import io.loomlab.core.http.Answer;
import io.loomlab.core.metrics.ManagementServer;
import io.loomlab.core.settings.UsageException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Tells and changes the behaviour over the management port. */
final class BehaviourEndpoint implements ManagementServer.Handler {
  static final String PATH = "/behaviour";

  private static final String DELAY = "delay";
  private static final String ERROR_SHARE = "error_share";
  private static final String HANG = "hang_ms";
  private static final String LASTING = "delay_for_ms";
  private static final List<String> NAMES = List.of(DELAY, ERROR_SHARE, HANG, LASTING);

  private final Behaviour behaviour;
  private final Runnable changed;

  /**
   * @param changed runs after each change
   */
  BehaviourEndpoint(Behaviour behaviour, Runnable changed) {
    this.behaviour = behaviour;
    this.changed = changed;
  }

  @Override
  public Answer answer(String method, String query) {
    return switch (method) {
      case "GET" -> current();
      case "PUT" -> change(query);
      default -> text(405, "This path takes GET and PUT.", "GET, PUT");
    };
  }

  private Answer current() {
    return Answer.json(
        "{\"delay\":\"%s\",\"error_share\":%s,\"hang_until_ms\":%d}"
            .formatted(behaviour.delay(), behaviour.errorShare(), behaviour.hangUntilMillis()));
  }

  private Answer change(String query) {
    try {
      apply(parameters(query));
    } catch (UsageException e) {
      return text(400, e.getMessage(), null);
    }
    changed.run();
    return current();
  }

  /** Reads all of them before it changes anything. */
  private void apply(Map<String, String> given) {
    Optional<Delay> delay =
        Optional.ofNullable(given.get(DELAY)).map(text -> Delay.parse(DELAY, text));
    Optional<ErrorShare> errorShare =
        Optional.ofNullable(given.get(ERROR_SHARE))
            .map(text -> ErrorShare.parse(ERROR_SHARE, text));
    Optional<Duration> hang = Optional.ofNullable(given.get(HANG)).map(text -> millis(HANG, text));
    Optional<Duration> lasting =
        Optional.ofNullable(given.get(LASTING)).map(text -> millis(LASTING, text));
    if (lasting.isPresent() && delay.isEmpty()) {
      throw new UsageException("%s has no %s beside it; give both.".formatted(LASTING, DELAY));
    }
    delay.ifPresent(
        each ->
            lasting.ifPresentOrElse(
                time -> behaviour.delay(each, time), () -> behaviour.delay(each)));
    errorShare.ifPresent(behaviour::errorShare);
    hang.ifPresent(behaviour::hang);
  }

  private static Duration millis(String name, String text) {
    OptionalInt millis = Millis.parse(text);
    if (millis.isEmpty()) {
      throw new UsageException(
          "%s is \"%s\"; give a whole number from 1 to %d, or 0 to end it."
              .formatted(name, text, Millis.LONGEST));
    }
    return Duration.ofMillis(millis.getAsInt());
  }

  private static Map<String, String> parameters(String query) {
    if (query == null || query.isEmpty()) {
      throw new UsageException("The query is empty; give one of %s.".formatted(names()));
    }
    Map<String, String> parameters = new HashMap<>();
    for (String parameter : query.split("&", -1)) {
      String[] parts = parameter.split("=", 2);
      if (parts.length < 2 || !NAMES.contains(parts[0])) {
        throw new UsageException(
            "The query holds \"%s\"; give NAME=VALUE with one of %s."
                .formatted(decoded(parameter), names()));
      }
      if (parameters.put(parts[0], decoded(parts[1])) != null) {
        throw new UsageException("The query holds %s twice; give it once.".formatted(parts[0]));
      }
    }
    return parameters;
  }

  private static String names() {
    return String.join(", ", NAMES);
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  private static Answer text(int status, String sentence, String allow) {
    return new Answer(status, Answer.TEXT, sentence.getBytes(StandardCharsets.UTF_8), allow);
  }
}
