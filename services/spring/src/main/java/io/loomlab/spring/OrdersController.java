package io.loomlab.spring;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Params;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.http.RefusedException;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * What a database answers; as {@link EndpointsController}.
 *
 * @param <T> as of {@link Endpoints}
 */
public abstract class OrdersController<T> {
  protected final Endpoints<T> endpoints;

  protected OrdersController(Endpoints<T> endpoints) {
    this.endpoints = endpoints;
  }

  @GetMapping(Endpoint.ORDER_PATH)
  Object order(@PathVariable("id") String id) {
    return endpoints.answer(Endpoint.ORDER, () -> ParsedRequest.findOrder(id));
  }

  @GetMapping(Endpoint.ORDERS_PATH)
  Object orders(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(
        Endpoint.ORDERS, () -> ParsedRequest.ordersOf(query.getFirst(Params.CUSTOMER)));
  }

  @GetMapping(Endpoint.SLOW_PATH)
  Object slow(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(Endpoint.SLOW, () -> ParsedRequest.slow(query.getFirst(Params.MILLIS)));
  }

  @RequestMapping(
      path = {Endpoint.ORDER_PATH, Endpoint.SLOW_PATH},
      method = {RequestMethod.HEAD, RequestMethod.OPTIONS})
  void onlyGet() {
    throw RefusedException.method("GET");
  }

  @RequestMapping(
      path = Endpoint.ORDERS_PATH,
      method = {RequestMethod.HEAD, RequestMethod.OPTIONS})
  void getOrPost() {
    throw RefusedException.method("GET,POST");
  }
}
