package io.loomlab.spring;

import io.loomlab.contract.About;
import io.loomlab.contract.Answer;
import io.loomlab.contract.Endpoint;
import java.util.function.Supplier;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class AboutController {
  private final Supplier<About> about;

  AboutController(Supplier<About> about) {
    this.about = about;
  }

  @GetMapping(Endpoint.ABOUT_PATH)
  Answer about() {
    return Answer.json(about.get().bytes());
  }
}
