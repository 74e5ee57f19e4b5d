package io.loomlab.backend;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * HTTP/1.x on a connection of one loop. Of its requests one is waited for at a time, so that
 * pipelined ones are answered in order.
 */
final class Connection extends ChannelInboundHandlerAdapter {
  private static final int LARGEST_ANSWER = 1024;
  private static final long IDLE_NANOS = Duration.ofMinutes(10).toNanos();
  private static final long DRAIN_NANOS = Duration.ofSeconds(5).toNanos();

  private final EventLoop loop;
  private final LoopBehaviour behaviour;

  /** Requests that wait for the answer before theirs. */
  private final Queue<HttpRequest> pipelined = new ArrayDeque<>(1);

  private ChannelHandlerContext context;
  private boolean waiting;
  private boolean keepAlive = true;
  private boolean http10;

  /** The peer has sent all it will send. */
  private boolean inputEnded;

  /** All is said; what still comes in is thrown away. */
  private boolean draining;

  private long lastActiveNanos = System.nanoTime();

  Connection(EventLoop loop, LoopBehaviour behaviour) {
    this.loop = loop;
    this.behaviour = behaviour;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    this.context = context;
    loop.add(this);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    loop.remove(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    loop.beginReading();
    lastActiveNanos = loop.batchNanos();
    try {
      if (message instanceof HttpRequest request && !draining) {
        pipelined.add(request);
        serve();
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      inputEnded = true;
      if (!waiting) {
        close();
      }
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    close();
  }

  /** Answers what was waited for; it became due at a time of {@link System#nanoTime}. */
  void answerDue(PendingAnswer pending, long dueNanos) {
    if (!context.channel().isActive()) {
      loop.counters().requestDropped();
      return;
    }
    waiting = false;
    send(pending, dueNanos);
    serve();
    if (inputEnded && !waiting) {
      context.writeAndFlush(context.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
    }
  }

  void closeIfIdle(long now) {
    if (!waiting && now - lastActiveNanos > (draining ? DRAIN_NANOS : IDLE_NANOS)) {
      close();
    }
  }

  void close() {
    context.close();
  }

  /** Serves what has come until one has to be waited for. */
  private void serve() {
    while (!waiting && !draining && !pipelined.isEmpty()) {
      HttpRequest request = pipelined.remove();
      int status = statusOf(request);
      http10 = request.protocolVersion().equals(HttpVersion.HTTP_1_0);
      keepAlive = status == 200 && HttpUtil.isKeepAlive(request);
      if (status == 200) {
        BackendAnswer answer = behaviour.answer(request.uri());
        answerAt(loop.batchNanos() + behaviour.delayNanos(answer), behaviour.outcome(answer));
      } else {
        answerAt(loop.batchNanos(), BackendAnswer.error(status));
      }
    }
  }

  /** 200, or the status to refuse the request with. */
  private static int statusOf(HttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return request.decoderResult().cause() instanceof TooLongFrameException ? 431 : 400;
    }
    HttpVersion version = request.protocolVersion();
    boolean http11 = version.equals(HttpVersion.HTTP_1_1);
    boolean known = http11 || version.equals(HttpVersion.HTTP_1_0);
    boolean named = !http11 || request.headers().contains(HttpHeaderNames.HOST);
    if (!known || !named || !request.uri().startsWith("/")) {
      return 400;
    }
    if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) > 0) {
      return 413;
    }
    return request.method().equals(HttpMethod.GET) ? 200 : 405;
  }

  private void answerAt(long deadline, BackendAnswer answer) {
    loop.counters().requestRead();
    PendingAnswer pending = new PendingAnswer(deadline, loop.unreadNanos(), this, answer);
    long dueNanos = behaviour.dueNanos(deadline);
    if (dueNanos <= loop.batchNanos()) {
      send(pending, dueNanos);
    } else {
      waiting = true;
      loop.await(pending);
    }
  }

  private void send(PendingAnswer pending, long dueNanos) {
    long dueIfReadAtOnce = behaviour.dueNanos(pending.deadlineNanos() - pending.unreadNanos());
    long earliest = Math.min(dueNanos, dueIfReadAtOnce);
    ByteBuf output = context.alloc().directBuffer(LARGEST_ANSWER);
    pending.answer().writeTo(output, keepAlive, http10);
    if (keepAlive) {
      context.writeAndFlush(output, context.voidPromise());
    } else {
      draining = true;
      context.writeAndFlush(output).addListener(written -> sayGoodbye());
    }
    loop.counters()
        .answered(System.nanoTime() - earliest, pending.answer() == BackendAnswer.FAILURE);
  }

  /**
   * Ends our side only: closing with input unread would reset the connection and lose the answer.
   */
  private void sayGoodbye() {
    if (inputEnded) {
      close();
    } else {
      ((SocketChannel) context.channel()).shutdownOutput();
    }
  }
}
