package com.example.orders;

import java.time.LocalDate;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
class OrderController {
  record Head(long id, int customer, LocalDate placedOn) {}

  record Line(String product, int quantity, long priceCents) {}

  record Order(long id, int customer, LocalDate placedOn, List<Line> lines) {}

  record NewOrder(int customer, String product, int quantity, long priceCents) {}

  record Placed(long id) {}

  private final JdbcClient database;

  OrderController(JdbcClient database) {
    this.database = database;
  }

  @GetMapping("/orders/{id}")
  public Order order(@PathVariable long id) {
    Head head =
        database
            .sql("select id, customer, placed_on from orders where id = ?")
            .param(id)
            .query(Head.class)
            .optional()
            .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    List<Line> lines =
        database
            .sql("select product, quantity, price_cents from lines where order_id = ? order by position")
            .param(id)
            .query(Line.class)
            .list();
    return new Order(head.id(), head.customer(), head.placedOn(), lines);
  }

  @PostMapping("/orders")
  @ResponseStatus(HttpStatus.CREATED)
  @Transactional
  public Placed place(@RequestBody NewOrder order) {
    long cents = order.quantity() * order.priceCents();
    long id =
        database
            .sql("insert into orders (customer, total_cents) values (?, ?) returning id")
            .params(order.customer(), cents)
            .query(Long.class)
            .single();
    database
        .sql("insert into lines values (?, 1, ?, ?, ?)")
        .params(id, order.product(), order.quantity(), order.priceCents())
        .update();
    return new Placed(id);
  }
}
