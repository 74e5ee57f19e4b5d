package io.loomlab.backend;

import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/** What a loop keeps per connection. Buffers exist only while there is something to keep. */
final class Connection {
  static final byte[] NOTHING = {};

  final SocketChannel channel;
  final SelectionKey key;

  /** Bytes read and not yet parsed. */
  byte[] unparsed = NOTHING;

  /** Bytes of an answer that the socket did not take yet. */
  byte[] unsent = NOTHING;

  /** A request is being waited for; further ones stay unparsed. */
  boolean busy;

  boolean keepAlive = true;
  boolean http10;

  /** The peer has sent all it will send. */
  boolean inputEnded;

  /** All is said; what still comes in is thrown away. */
  boolean draining;

  long lastActiveNanos;

  Connection(SocketChannel channel, SelectionKey key, long nowNanos) {
    this.channel = channel;
    this.key = key;
    this.lastActiveNanos = nowNanos;
  }

  void want(int operations) {
    if (key.interestOps() != operations) {
      key.interestOps(operations);
    }
  }

  void keep(byte[] bytes, int from, int to) {
    unparsed = from == to ? NOTHING : Arrays.copyOfRange(bytes, from, to);
  }
}
