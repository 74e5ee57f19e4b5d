package io.loomlab.webflux;

import io.loomlab.core.http.RequestBody;
import java.io.ByteArrayOutputStream;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.core.publisher.Mono;

/** A request body that is being read. Of one that is too long, the rest is thrown away. */
public final class Body {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private int takenIn;

  private Body() {}

  /** The bytes; fails with a refusal beyond {@link RequestBody#LONGEST_BYTES}. */
  public static Mono<byte[]> of(ServerHttpRequest request) {
    return Mono.defer(
        () -> {
          Body body = new Body();
          return request
              .getBody()
              .doOnNext(body::add)
              .takeUntil(part -> body.takenIn >= RequestBody.LONGEST_TAKEN_IN_BYTES)
              .then(Mono.fromSupplier(body::complete));
        });
  }

  private void add(DataBuffer part) {
    takenIn += part.readableByteCount();
    if (takenIn <= RequestBody.LONGEST_BYTES) {
      byte[] copy = new byte[part.readableByteCount()];
      part.read(copy);
      bytes.writeBytes(copy);
    }
    DataBufferUtils.release(part);
  }

  private byte[] complete() {
    RequestBody.requireLength(takenIn);
    return bytes.toByteArray();
  }
}
