package io.loomlab.backend;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * HTTP/1.x on the connections of one loop. Of a connection's requests one is waited for at a time,
 * so that pipelined ones are answered in order.
 */
final class ConnectionHandler {
  private static final int LARGEST_HEAD = 8192;
  private static final int LARGEST_ANSWER = 1024;
  private static final long IDLE_NANOS = Duration.ofMinutes(10).toNanos();
  private static final long DRAIN_NANOS = Duration.ofSeconds(5).toNanos();

  private final EventLoop loop;
  private final LoopBehaviour behaviour;
  private final RequestParser parser = new RequestParser();
  private final byte[] bytes = new byte[LARGEST_HEAD];
  private final ByteBuffer input = ByteBuffer.allocateDirect(LARGEST_HEAD);
  private final ByteBuffer output = ByteBuffer.allocateDirect(LARGEST_ANSWER);

  ConnectionHandler(EventLoop loop, LoopBehaviour behaviour) {
    this.loop = loop;
    this.behaviour = behaviour;
  }

  void register(Selector selector, SocketChannel channel) {
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
      key.attach(new Connection(channel, key, System.nanoTime()));
    } catch (IOException e) {
      close(channel);
    }
  }

  void ready(Connection connection) {
    connection.lastActiveNanos = loop.batchNanos();
    try {
      if (connection.key.isWritable()) {
        flush(connection);
      } else if (connection.draining) {
        drain(connection);
      } else {
        read(connection);
      }
    } catch (IOException e) {
      close(connection.channel);
    }
  }

  void closeIfIdle(Connection connection, long now) {
    long limit = connection.draining ? DRAIN_NANOS : IDLE_NANOS;
    boolean answerDue = connection.busy && connection.unsent.length == 0;
    if (!answerDue && now - connection.lastActiveNanos > limit) {
      close(connection.channel);
    }
  }

  private void read(Connection connection) throws IOException {
    int kept = unpack(connection);
    input.clear().limit(bytes.length - kept);
    int count = connection.channel.read(input);
    if (count < 0) {
      connection.inputEnded = true;
      connection.want(0);
      count = 0;
    }
    input.flip().get(bytes, kept, count);
    if (connection.busy) {
      connection.keep(bytes, 0, kept + count);
      if (kept + count == bytes.length) {
        connection.want(0);
      }
    } else {
      serve(connection, kept + count);
    }
  }

  /** Serves the requests in the first bytes until one has to be waited for. */
  private void serve(Connection connection, int to) throws IOException {
    int from = 0;
    while (!connection.busy && !connection.draining && connection.channel.isOpen()) {
      int status = parser.parse(bytes, from, to);
      if (status == RequestParser.INCOMPLETE) {
        if (to - from == bytes.length) {
          refuse(connection, 431);
        } else if (connection.inputEnded) {
          close(connection.channel);
        }
        break;
      }
      from = parser.next();
      if (status == RequestParser.OK) {
        answer(connection, behaviour.answer(parser.target()));
      } else {
        refuse(connection, status);
      }
    }
    connection.keep(bytes, from, to);
  }

  private void answer(Connection connection, Answer answer) throws IOException {
    connection.http10 = parser.http10();
    connection.keepAlive = parser.keepAlive();
    long deadline = loop.batchNanos() + behaviour.delayNanos(answer);
    answerAt(deadline, connection, behaviour.outcome(answer));
  }

  private void refuse(Connection connection, int status) throws IOException {
    connection.keepAlive = false;
    answerAt(loop.batchNanos(), connection, Answer.error(status));
  }

  private void answerAt(long deadline, Connection connection, Answer answer) throws IOException {
    loop.counters().requestRead();
    PendingAnswer pending = new PendingAnswer(deadline, loop.unreadNanos(), connection, answer);
    long dueNanos = behaviour.dueNanos(deadline);
    if (dueNanos <= loop.batchNanos()) {
      send(pending, dueNanos);
    } else {
      connection.busy = true;
      loop.await(pending);
    }
  }

  /** Answers what was waited for; it became due at a time of {@link System#nanoTime}. */
  void answerDue(PendingAnswer pending, long dueNanos) {
    Connection connection = pending.connection();
    if (!connection.channel.isOpen()) {
      loop.counters().requestDropped();
      return;
    }
    try {
      connection.busy = false;
      send(pending, dueNanos);
      resume(connection);
    } catch (IOException e) {
      close(connection.channel);
    }
  }

  private void send(PendingAnswer pending, long dueNanos) throws IOException {
    Connection connection = pending.connection();
    Answer answer = pending.answer();
    long dueIfReadAtOnce = behaviour.dueNanos(pending.deadlineNanos() - pending.unreadNanos());
    long earliest = Math.min(dueNanos, dueIfReadAtOnce);
    output.clear();
    answer.writeTo(output, connection.keepAlive, connection.http10);
    output.flip();
    try {
      connection.channel.write(output);
    } finally {
      loop.counters().answered(System.nanoTime() - earliest, answer == Answer.FAILURE);
    }
    if (output.hasRemaining()) {
      connection.unsent = new byte[output.remaining()];
      output.get(connection.unsent);
      connection.busy = true;
      connection.want(SelectionKey.OP_WRITE);
    } else if (!connection.keepAlive) {
      sayGoodbye(connection);
    }
  }

  private void flush(Connection connection) throws IOException {
    output.clear().put(connection.unsent).flip();
    connection.channel.write(output);
    connection.unsent = new byte[output.remaining()];
    output.get(connection.unsent);
    if (connection.unsent.length == 0) {
      connection.unsent = Connection.NOTHING;
      connection.busy = false;
      if (!connection.keepAlive) {
        sayGoodbye(connection);
      }
      resume(connection);
    }
  }

  /** Goes on with what the peer sent while its last request was waited for. */
  private void resume(Connection connection) throws IOException {
    if (connection.busy || connection.draining) {
      return;
    }
    if (!connection.inputEnded) {
      connection.want(SelectionKey.OP_READ);
    }
    if (connection.inputEnded || connection.unparsed.length > 0) {
      serve(connection, unpack(connection));
    }
  }

  /**
   * Ends our side only: closing with input unread would reset the connection and lose the answer.
   */
  private void sayGoodbye(Connection connection) throws IOException {
    if (connection.inputEnded) {
      close(connection.channel);
    } else {
      connection.draining = true;
      connection.unparsed = Connection.NOTHING;
      connection.channel.shutdownOutput();
      connection.want(SelectionKey.OP_READ);
    }
  }

  private void drain(Connection connection) throws IOException {
    if (connection.channel.read(input.clear()) < 0) {
      close(connection.channel);
    }
  }

  private int unpack(Connection connection) {
    System.arraycopy(connection.unparsed, 0, bytes, 0, connection.unparsed.length);
    return connection.unparsed.length;
  }

  private void close(SocketChannel channel) {
    try {
      if (channel.isOpen()) {
        loop.counters().closed();
        channel.close();
      }
    } catch (IOException e) {
      System.err.println("A connection did not close properly: " + e.getMessage());
    }
  }
}
