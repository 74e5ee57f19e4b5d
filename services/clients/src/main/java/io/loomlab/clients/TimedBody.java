package io.loomlab.clients;

import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A body that must arrive within a time: up to JDK 25 a request's time-out ends with the head. */
final class TimedBody implements BodySubscriber<byte[]> {
  private final BodySubscriber<byte[]> bytes = BodySubscribers.ofByteArray();
  private final CompletableFuture<byte[]> body;
  private volatile Subscription subscription;

  TimedBody(Duration longest) {
    body =
        bytes
            .getBody()
            .toCompletableFuture()
            .copy()
            .orTimeout(longest.toMillis(), TimeUnit.MILLISECONDS)
            .exceptionally(TimedBody::failed);
    body.whenComplete(this::breakOff);
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Subscription given) {
    subscription = given;
    bytes.onSubscribe(given);
  }

  @Override
  public void onNext(List<ByteBuffer> part) {
    bytes.onNext(part);
  }

  @Override
  public void onError(Throwable failure) {
    bytes.onError(failure);
  }

  @Override
  public void onComplete() {
    bytes.onComplete();
  }

  private static byte[] failed(Throwable failure) {
    throw new CompletionException(
        failure instanceof TimeoutException
            ? new HttpTimeoutException("the body did not end in time")
            : failure);
  }

  /**
   * Cancels only after the future has failed with the time-out. Cancelling first would fail it with
   * the client's own IOException, and a 504 would become a 502.
   */
  private void breakOff(byte[] complete, Throwable failure) {
    if (failure != null && subscription != null) {
      subscription.cancel();
    }
  }
}
