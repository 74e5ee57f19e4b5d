package com.example.orders;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

@RestController
@Profile("!payments")
class OrderController {
  record Order(long id, String customer, Payment payment) {}

  private final RestClient payments;

  OrderController(RestClient.Builder builder, @Value("${payments.url}") String url) {
    this.payments = builder.baseUrl(url).build();
  }

  @GetMapping("/orders/{id}")
  Order order(@PathVariable long id) {
    Payment payment = payments.get().uri("/payments/{id}", id).retrieve().body(Payment.class);
    return new Order(id, "Ada Lovelace", payment);
  }
}
