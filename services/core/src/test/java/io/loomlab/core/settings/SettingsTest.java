package io.loomlab.core.settings;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.memory.ChildJvm;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

public class SettingsTest {
  public static final Map<String, String> COMPLETE =
      Map.ofEntries(
          entry("LAB_APPROACH", "tomcat-virtual"),
          entry("LAB_CONCURRENCY", "virtual-threads"),
          entry("LAB_BACKEND_URL", "http://backend:8080"),
          entry("LAB_PLATFORM_THREADS", "1000"),
          entry("LAB_BACKEND_CONNECTIONS", "2000"),
          entry("LAB_MAX_CONNECTIONS", "20000"),
          entry("LAB_BACKLOG", "16384"),
          entry("LAB_CONNECT_TIMEOUT_MS", "5000"),
          entry("LAB_RESPONSE_TIMEOUT_MS", "20000"),
          entry("LAB_POOL_TIMEOUT_MS", "60000"),
          entry("LAB_KEEP_ALIVE_MS", "120000"),
          entry("LAB_HTTP_CLIENT", "jdk"),
          entry("LAB_STYLE", "lean"),
          entry("LAB_LIMIT", "300"),
          entry("LAB_SAVE_MOVIES", "true"));

  @Test
  void readsEveryVariable() {
    assertThat(Settings.from(COMPLETE))
        .isEqualTo(
            new Settings(
                new Approach("tomcat-virtual", Approach.Concurrency.VIRTUAL_THREADS),
                URI.create("http://backend:8080"),
                1000,
                2000,
                20_000,
                16_384,
                Duration.ofSeconds(5),
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                Duration.ofSeconds(120),
                Settings.Client.JDK,
                Settings.Style.LEAN,
                300,
                true,
                null,
                8080,
                8081));
  }

  @Test
  void namesAnyMissingVariable() {
    for (String name : COMPLETE.keySet()) {
      Map<String, String> incomplete = new HashMap<>(COMPLETE);
      incomplete.remove(name);
      assertThatThrownBy(() -> Settings.from(incomplete))
          .isInstanceOf(UsageException.class)
          .hasMessageContaining(name + " is not set");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "LAB_CONCURRENCY, green-threads, platform-threads",
    "LAB_BACKEND_URL, backend:8080, http://backend:8080",
    "LAB_BACKEND_URL, http://backend:8080/path, http://backend:8080",
    "LAB_BACKLOG, 0, whole number from 1",
    "LAB_BACKLOG, many, whole number from 1",
    "LAB_RESPONSE_TIMEOUT_MS, 2.5, whole number from 0",
    "LAB_POOL_TIMEOUT_MS, 0, whole number from 1",
    "LAB_KEEP_ALIVE_MS, 0, whole number from 1",
    "LAB_HTTP_CLIENT, netty, 'default, apache, jdk, reactor'",
    "LAB_STYLE, terse, 'lean, idiomatic'",
    "LAB_LIMIT, -1, whole number from 0",
    "LAB_SAVE_MOVIES, yes, true or false"
  })
  void saysWhichValueIsWrongAndWhatWouldBeRight(String name, String value, String cure) {
    Map<String, String> wrong = new HashMap<>(COMPLETE);
    wrong.put(name, value);
    assertThatThrownBy(() -> Settings.from(wrong))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll(name, "\"" + value + "\"", cure);
  }

  @Test
  void readsWhereTheDatabaseIs() {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.put("LAB_DATABASE_URL", "");
    assertThat(Settings.from(variables).database()).isNull();
    variables.put("LAB_DATABASE_URL", "postgresql://me:secret@there:5433/orders");
    variables.put("LAB_DATABASE_POOL", "20");
    assertThat(Settings.from(variables).database())
        .isEqualTo(new Settings.Database("me", "secret", "there", 5433, "orders", 20));
    variables.put("LAB_DATABASE_POOL", "none");
    assertThatThrownBy(() -> Settings.from(variables))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("LAB_DATABASE_POOL", "whole number from 1");
    variables.put("LAB_DATABASE_URL", "jdbc:postgresql://there/orders?password=secret");
    assertThatThrownBy(() -> Settings.from(variables))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("LAB_DATABASE_URL", "postgresql://user:password@database:5432")
        .hasMessageNotContaining("secret");
  }

  @Test
  void onPlatformThreadsThePoolIsTheLimit() {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    assertThat(Settings.from(variables).bounds()).isTrue();
    variables.put("LAB_CONCURRENCY", "platform-threads");
    assertThat(Settings.from(variables).bounds()).isFalse();
    variables.putAll(Map.of("LAB_CONCURRENCY", "reactive", "LAB_LIMIT", "0"));
    assertThat(Settings.from(variables).bounds()).isFalse();
  }

  @Test
  void aTimeOutOfZeroIsTaken() {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.putAll(Map.of("LAB_CONNECT_TIMEOUT_MS", "0", "LAB_RESPONSE_TIMEOUT_MS", "0"));
    assertThat(Settings.from(variables))
        .extracting(Settings::connectTimeout, Settings::responseTimeout)
        .containsExactly(Duration.ZERO, Duration.ZERO);
  }

  /** In a JVM of its own: tells what /about tells of it. */
  static final class Told {
    public static void main(String[] arguments) {
      About.Jvm jvm = About.Jvm.running();
      System.out.println(jvm.maxHeapBytes() >> 20);
      System.out.println(jvm.availableProcessors());
      System.out.println(jvm.carriers());
      System.out.println(jvm.classArchive());
      System.out.println(jvm.vmArguments().contains("-Xmx96m"));
    }
  }

  @Test
  void aboutTellsWhatTheJvmMadeOfItsOptions() throws Exception {
    assertThat(
            ChildJvm.lines(
                Told.class,
                "-Xlog:disable",
                "-XX:+UseG1GC",
                "-Xms48m",
                "-Xmx96m",
                "-XX:ActiveProcessorCount=5",
                "-Djdk.virtualThreadScheduler.parallelism=3",
                "-XX:SharedArchiveFile=missing.jsa"))
        .containsExactly("96", "5", "3", "false", "true");
  }

  @Test
  void refusesAnotherClientAndALimitInTheIdiomaticStyle() {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.put("LAB_STYLE", "idiomatic");
    assertThatThrownBy(() -> Settings.from(variables))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("LAB_HTTP_CLIENT", "\"jdk\"", "use default");
    variables.put("LAB_HTTP_CLIENT", "default");
    assertThatThrownBy(() -> Settings.from(variables))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("LAB_LIMIT", "\"300\"", "use 0");
    variables.put("LAB_LIMIT", "0");
    variables.put("LAB_DATABASE_URL", "postgresql://me:secret@there:5433/orders");
    variables.put("LAB_DATABASE_POOL", "20");
    assertThatThrownBy(() -> Settings.from(variables))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("LAB_DATABASE_URL", "leave it out");
    variables.remove("LAB_DATABASE_URL");
    assertThat(Settings.from(variables).style()).isEqualTo(Settings.Style.IDIOMATIC);
  }

  @Test
  void refusesAStyleThatTheApproachDoesNotHave() {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.putAll(
        Map.of("LAB_STYLE", "idiomatic", "LAB_HTTP_CLIENT", "default", "LAB_LIMIT", "0"));
    Settings idiomatic = Settings.from(variables);
    assertThat(idiomatic.among(Set.of(Settings.Style.IDIOMATIC))).isSameAs(idiomatic);
    assertThatThrownBy(() -> idiomatic.among(Set.of(Settings.Style.LEAN)))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("LAB_STYLE", "\"idiomatic\"", "tomcat-virtual", "use lean");
  }

  @Test
  void refusesAConcurrencyThatTheServerDoesNotDo() {
    Approach reactive = new Approach("webflux-netty", Approach.Concurrency.REACTIVE);
    assertThat(reactive.among(Approach.Concurrency.REACTIVE)).isSameAs(reactive);
    assertThatThrownBy(
            () ->
                reactive.among(
                    Approach.Concurrency.PLATFORM_THREADS, Approach.Concurrency.VIRTUAL_THREADS))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll(
            "\"reactive\"", "webflux-netty", "platform-threads, virtual-threads");
  }
}
