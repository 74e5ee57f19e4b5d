package io.loomlab.spring;

import java.nio.charset.StandardCharsets;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;

/** Plain text answers, alike on either web stack. */
public final class PlainText {
  private static final MediaType UTF_8 = new MediaType("text", "plain", StandardCharsets.UTF_8);

  private PlainText() {}

  public static ResponseEntity<String> ok(String text) {
    return ResponseEntity.ok().contentType(UTF_8).body(text);
  }
}
