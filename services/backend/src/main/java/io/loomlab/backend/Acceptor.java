package io.loomlab.backend;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Deals new connections out to the loops in turn. Runs on the loop that it listens on. */
final class Acceptor extends ChannelInboundHandlerAdapter {
  private static final long PAUSE_MILLIS = 100;

  private final List<EventLoop> loops;
  private final int maxConnections;
  private int next;

  Acceptor(List<EventLoop> loops, int maxConnections) {
    this.loops = loops;
    this.maxConnections = maxConnections;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object connection) {
    loops.get(next).adopt((SocketChannel) connection);
    next = (next + 1) % loops.size();
    if (isFull()) {
      pause(context);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    System.err.println("A connection could not be accepted: " + cause.getMessage());
    pause(context);
  }

  private void pause(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(false);
    context.executor().schedule(() -> resume(context), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void resume(ChannelHandlerContext context) {
    if (isFull()) {
      pause(context);
    } else {
      context.channel().config().setAutoRead(true);
    }
  }

  private boolean isFull() {
    return loops.stream().mapToLong(each -> each.counters().openConnections()).sum()
        >= maxConnections;
  }
}
