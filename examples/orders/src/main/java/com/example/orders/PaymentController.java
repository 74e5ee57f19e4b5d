package com.example.orders;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Stands for a payment provider, which takes its time. */
@RestController
@Profile("payments")
class PaymentController {
  private final long answersAfterMs;

  PaymentController(@Value("${payments.answers-after-ms}") long answersAfterMs) {
    this.answersAfterMs = answersAfterMs;
  }

  @GetMapping("/payments/{order}")
  Payment payment(@PathVariable long order) throws InterruptedException {
    Thread.sleep(answersAfterMs);
    return new Payment(order, "PAID", 4200);
  }
}
