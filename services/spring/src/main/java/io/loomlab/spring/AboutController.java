package io.loomlab.spring;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.settings.About;
import java.util.function.Supplier;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class AboutController {
  private final Supplier<About> about;

  AboutController(Supplier<About> about) {
    this.about = about;
  }

  About told() {
    return about.get();
  }

  @GetMapping(Endpoint.ABOUT_PATH)
  ResponseEntity<byte[]> about() {
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(told().bytes());
  }
}
