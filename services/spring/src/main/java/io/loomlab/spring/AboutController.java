package io.loomlab.spring;

import io.loomlab.contract.About;
import io.loomlab.contract.Endpoint;
import java.util.function.Supplier;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class AboutController {
  private final Supplier<About> about;

  AboutController(Supplier<About> about) {
    this.about = about;
  }

  @GetMapping(Endpoint.ABOUT_PATH)
  ResponseEntity<byte[]> about() {
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(about.get().bytes());
  }
}
