package com.example.orders;

import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Stands for a payment provider, which takes its time. */
@RestController
@Profile("payments")
class PaymentController {
  private static final int ANSWERS_AFTER_MS = 100;

  @GetMapping("/payments/{order}")
  Payment payment(@PathVariable long order) throws InterruptedException {
    Thread.sleep(ANSWERS_AFTER_MS);
    return new Payment(order, "PAID", 4200);
  }
}
