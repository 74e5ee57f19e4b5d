package io.loomlab.spring.idiomatic;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.RequestMetrics;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Gives Spring's timer of requests the name, the labels and the buckets that the contract asks for.
 */
class ObservedRequests implements MeterFilter {
  /** Spring's timer of the requests that are under way. */
  static final String ACTIVE = "http.server.requests.active";

  private static final String OBSERVED = "http.server.requests";
  private static final String ENDPOINT = "endpoint";
  private static final String STATUS = "status";

  /** Spring has no status where the client left first. */
  private static final String UNKNOWN = "UNKNOWN";

  private static final String CLIENT_GONE = "499";
  private static final double[] BUCKETS_NANOS =
      RequestMetrics.BUCKETS.stream().mapToDouble(each -> each.toNanos()).toArray();
  private static final Set<String> ENDPOINTS =
      Arrays.stream(Endpoint.values()).map(Endpoint::label).collect(Collectors.toSet());

  /** Refused with one of these, a request has reached no handler. */
  private static final Set<String> UNHANDLED = Set.of("405", "413");

  @Override
  public Meter.Id map(Meter.Id id) {
    if (!id.getName().equals(OBSERVED)) {
      return id;
    }
    String status = id.getTag(STATUS);
    return id.withName(RequestMetrics.NAME)
        .replaceTags(
            Tags.of(
                LabRegistry.APPROACH_TAG,
                id.getTag(LabRegistry.APPROACH_TAG),
                ENDPOINT,
                endpoint(id.getTag("method"), id.getTag("uri")),
                STATUS,
                UNKNOWN.equals(status) ? CLIENT_GONE : status));
  }

  @Override
  public MeterFilterReply accept(Meter.Id id) {
    boolean unwanted =
        id.getName().equals(RequestMetrics.NAME)
            && (!ENDPOINTS.contains(id.getTag(ENDPOINT)) || UNHANDLED.contains(id.getTag(STATUS)));
    return unwanted ? MeterFilterReply.DENY : MeterFilterReply.NEUTRAL;
  }

  @Override
  public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
    return id.getName().equals(RequestMetrics.NAME)
        ? DistributionStatisticConfig.builder()
            .serviceLevelObjectives(BUCKETS_NANOS)
            .build()
            .merge(config)
        : config;
  }

  private static String endpoint(String method, String pattern) {
    String path =
        Endpoint.EPOCH_MILLIS_OF_PATH.equals(pattern) ? Endpoint.EPOCH_MILLIS_PATH : pattern;
    return "GET".equals(method) ? path : method + " " + path;
  }
}
