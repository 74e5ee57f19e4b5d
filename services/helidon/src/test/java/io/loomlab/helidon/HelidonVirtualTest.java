package io.loomlab.helidon;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HelidonVirtualTest extends ApproachContract {
  private HelidonApplication application;

  HelidonVirtualTest() {
    super(new Approach("helidon-virtual", Approach.Concurrency.VIRTUAL_THREADS));
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    application = HelidonApplication.start(settings);
    return new Running(application.port(), application.managementPort(), application);
  }

  @Test
  void whatIsChosenForHelidonIsTold() throws Exception {
    assertInbound(
        Map.of(
            "server", "helidon",
            "socket_thread_kind", "platform",
            "internals/validation", "headers only"));
  }

  @Test
  void oneThreadAcceptsForAllConnections() throws Exception {
    assertSocketThreadsRun("io.helidon.webserver.ServerListener");
  }

  @Test
  void whatIsNoRequestIsAProblem() throws IOException {
    try (Socket socket = connect(application)) {
      assertThat(answer(socket, "GARBAGE\r\n\r\n"))
          .startsWith("HTTP/1.1 400 ")
          .contains("{\"type\":\"about:blank\"");
    }
  }

  @Test
  void keepAliveEndsIdleConnectionsAndNoBusyOne() throws IOException {
    try (HelidonApplication impatient = HelidonApplication.start(settings(Duration.ofMillis(300)));
        Socket socket = connect(impatient)) {
      String longRequest = "GET /epoch-millis?delayInMillis=2500 HTTP/1.1\r\nHost: x\r\n\r\n";
      assertThat(answer(socket, longRequest + longRequest).split("HTTP/1.1 200", -1)).hasSize(3);
    }
  }

  private static Socket connect(HelidonApplication application) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), application.port());
    socket.setSoTimeout(30_000);
    return socket;
  }

  /** All that is sent until the server ends the connection. */
  private static String answer(Socket socket, String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    InputStream in = socket.getInputStream();
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }
}
