package io.loomlab.core.work;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.http.RefusedException;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrdersTest {
  @Test
  void anOrderIsReadAndItsPriceIsThatOfAllPieces() {
    Orders.New order =
        Orders.read(
            "{\"customer\":7,\"product\":\"p\",\"quantity\":3,\"priceCents\":500,\"more\":1}"
                .getBytes(UTF_8));
    assertThat(order).isEqualTo(new Orders.New(7, "p", 3, 500));
    assertThat(order.totalCents()).isEqualTo(1500);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "{\"customer\":7,\"product\":\"p\",\"quantity\":3}",
        "{\"customer\":0,\"product\":\"p\",\"quantity\":3,\"priceCents\":5}",
        "{\"customer\":7,\"product\":\"\",\"quantity\":3,\"priceCents\":5}",
        "{\"customer\":7,\"product\":\"\\u0000\",\"quantity\":3,\"priceCents\":5}",
        "{\"customer\":7,\"product\":\"p\",\"quantity\":-1,\"priceCents\":5}",
        "{\"customer\":7,\"product\":\"p\",\"quantity\":3,\"priceCents\":99999999999}",
      })
  void anotherBodyIsRefused(String body) {
    assertThatThrownBy(() -> Orders.read(body.getBytes(UTF_8)))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> assertThat(refusal.problem().status()).isEqualTo(400));
  }

  @Test
  void answersHaveTheirMembersInOrder() {
    Orders.Head head = new Orders.Head(1, 2, LocalDate.of(2025, 3, 4), "paid", 5);
    List<Orders.Line> lines = List.of(new Orders.Line("p", 6, 7));
    assertThat(new String(Orders.found(head, lines).body(), UTF_8))
        .isEqualTo(
            "{\"id\":1,\"customer\":2,\"placedOn\":\"2025-03-04\",\"status\":\"paid\","
                + "\"totalCents\":5,\"lines\":[{\"product\":\"p\",\"quantity\":6,\"priceCents\":7}]}");
  }

  @Test
  void jdbcHasQuestionMarksForParameters() {
    assertThat(Orders.forJdbc(Orders.CHARGE)).doesNotContain("$").contains("+ ? where id = ?");
  }
}
