package com.example.orders;

import java.time.LocalDate;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

@RestController
class OrderController {
  record Head(long id, int customer, LocalDate placedOn) {}

  record Line(String product, int quantity, long priceCents) {}

  record Order(long id, int customer, LocalDate placedOn, List<Line> lines) {}

  record NewOrder(int customer, String product, int quantity, long priceCents) {}

  record Placed(long id) {}

  private final DatabaseClient database;

  OrderController(DatabaseClient database) {
    this.database = database;
  }

  @GetMapping("/orders/{id}")
  public Mono<Order> order(@PathVariable long id) {
    Mono<List<Line>> lines =
        database
            .sql("select product, quantity, price_cents from lines where order_id = $1 order by position")
            .bind(0, id)
            .mapProperties(Line.class)
            .all()
            .collectList();
    return database
        .sql("select id, customer, placed_on from orders where id = $1")
        .bind(0, id)
        .mapProperties(Head.class)
        .one()
        .switchIfEmpty(Mono.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND)))
        .zipWhen(
            head -> lines,
            (head, its) -> new Order(head.id(), head.customer(), head.placedOn(), its));
  }

  @PostMapping("/orders")
  @ResponseStatus(HttpStatus.CREATED)
  @Transactional
  public Mono<Placed> place(@RequestBody NewOrder order) {
    long cents = order.quantity() * order.priceCents();
    return database
        .sql("insert into orders (customer, total_cents) values ($1, $2) returning id")
        .bind(0, order.customer())
        .bind(1, cents)
        .mapValue(Long.class)
        .one()
        .delayUntil(
            id ->
                database
                    .sql("insert into lines values ($1, 1, $2, $3, $4)")
                    .bind(0, id)
                    .bind(1, order.product())
                    .bind(2, order.quantity())
                    .bind(3, order.priceCents())
                    .then())
        .map(Placed::new);
  }
}
