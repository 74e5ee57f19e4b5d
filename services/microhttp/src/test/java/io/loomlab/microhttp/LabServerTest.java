package io.loomlab.microhttp;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.http.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.microhttp.LabServer;
import org.microhttp.Options;

/** What the lab's acceptor and the library's time-out do, over real sockets. */
class LabServerTest {
  private static final Duration SHORT_KEEP_ALIVE = Duration.ofMillis(300);
  private static final Duration KEEP_ALIVE = Duration.ofMinutes(1);
  private static final long LONG_REQUEST_MS = 3 * SHORT_KEEP_ALIVE.toMillis();
  private static final String REQUEST = "GET / HTTP/1.1\r\n\r\n";

  private final Set<Thread> eventLoops = ConcurrentHashMap.newKeySet();
  private LabServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = start(KEEP_ALIVE);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void keepAliveEndsIdleConnectionsAndNoBusyOne() throws IOException {
    try (LabServer impatient = start(SHORT_KEEP_ALIVE);
        Socket socket = connect(impatient)) {
      assertThat(answer(socket, "GET /long HTTP/1.1\r\n\r\n" + REQUEST)).endsWith("here");
      assertThat(answer(socket, "")).endsWith("here");
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void goesOnAfterAMalformedRequestBehindAnotherOneEndedAnEventLoop() throws IOException {
    for (int i = 0; i < server.options().concurrency(); i++) {
      try (Socket poisonous = connect()) {
        answer(poisonous, REQUEST + "A B HTTP/1.1\r\n:no name\r\n\r\n");
        assertThat(poisonous.getInputStream().read()).isEqualTo(-1);
      }
    }
    try (Socket next = connect()) {
      assertThat(answer(next, REQUEST)).endsWith("here");
    }
    assertThat(server.isServing()).isTrue();
  }

  @Test
  void aNewConnectionGoesToTheEventLoopWithTheFewest() throws IOException {
    try (Socket one = connect()) {
      answer(one, REQUEST);
      try (Socket another = connect()) {
        answer(another, REQUEST);
      }
    }
    assertThat(eventLoops).hasSize(server.options().concurrency());
  }

  @Test
  void threadThatBearsTheNameOfAnEventLoopIsNone() {
    assertThat(LabServer.isEventLoop(new Thread("connection-event-loop"))).isFalse();
  }

  private LabServer start(Duration keepAlive) throws IOException {
    LabServer server =
        new LabServer(
            Options.builder()
                .withPort(0)
                .withConcurrency(2)
                .withRequestTimeout(keepAlive)
                .withResolution(Duration.ofMillis(10))
                .build());
    server.start(
        (request, callback) -> {
          eventLoops.add(Thread.currentThread());
          CompletableFuture.delayedExecutor(
                  request.uri().equals("/long") ? LONG_REQUEST_MS : 0, TimeUnit.MILLISECONDS)
              .execute(() -> callback.accept(Responses.of(Answer.text("here"), request)));
        });
    return server;
  }

  private Socket connect() throws IOException {
    return connect(server);
  }

  private static Socket connect(LabServer server) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.setSoTimeout(30_000);
    return socket;
  }

  /** Head and body of the answer. */
  private static String answer(Socket socket, String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    InputStream in = socket.getInputStream();
    StringBuilder answer = new StringBuilder();
    while (answer.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      assertThat(next).as("end of connection after: %s", answer).isNotNegative();
      answer.append((char) next);
    }
    byte[] body = in.readNBytes("here".length());
    return answer.append(new String(body, StandardCharsets.US_ASCII)).toString();
  }
}
