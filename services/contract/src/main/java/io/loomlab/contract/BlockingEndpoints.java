package io.loomlab.contract;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * The endpoints for servers that run a request on a thread of its own, platform or virtual. Every
 * method gives an answer, be it a problem; none throws.
 */
public final class BlockingEndpoints {
  private static final System.Logger LOG = System.getLogger(BlockingEndpoints.class.getName());

  private final BlockingBackend backend;
  private final Movies movies;
  private final RequestMetrics requests;

  /** Of the last request for /pinned. A monitor that nobody else can reach may be compiled away. */
  private volatile Object published;

  public BlockingEndpoints(BlockingBackend backend, Movies movies, RequestMetrics requests) {
    this.backend = backend;
    this.movies = movies;
    this.requests = requests;
  }

  public Answer capabilities() {
    return measured(
        Endpoint.CAPABILITIES,
        () -> {
          String token = backend.get(BackendPaths.AUTHENTICATION);
          String role = backend.get(BackendPaths.authorization(token));
          return Answer.text(backend.get(BackendPaths.capabilities(role)));
        });
  }

  public Answer meetings(String authorization) {
    return measured(
        Endpoint.MEETINGS,
        () -> {
          String token = Params.authorization(authorization);
          String id = BackendPaths.userId(backend.get(BackendPaths.authenticate(token)));
          String authorities = backend.get(BackendPaths.authorize(id));
          return Answer.json(backend.get(BackendPaths.meetings(id, authorities)));
        });
  }

  public Answer epochMillis(String delay) {
    return measured(
        Endpoint.EPOCH_MILLIS,
        () -> {
          sleep(Params.delay(delay));
          return epochMillis();
        });
  }

  public Answer movies(String director, String delay) {
    return measured(
        Endpoint.MOVIES,
        () -> {
          Duration wait = Params.delay(delay);
          movies.requireKnown(Params.director(director));
          sleep(wait);
          return Answer.json(movies.by(director));
        });
  }

  public Answer saveMovies(String contentType, String delay, byte[] body) {
    return measured(
        Endpoint.SAVE_MOVIES,
        () -> {
          RequestBody.requireJson(contentType);
          Duration wait = Params.delay(delay);
          Movies.Batch batch = Movies.read(body);
          sleep(wait);
          return Answer.json(movies.save(batch));
        });
  }

  public Answer block(String seconds) {
    return measured(
        Endpoint.BLOCK,
        () -> Answer.text(backend.get(BackendPaths.delay(Params.seconds(seconds)))));
  }

  public Answer pinned(String delay) {
    Object monitor = new Object();
    published = monitor;
    return measured(
        Endpoint.PINNED,
        () -> {
          Duration wait = Params.delay(delay);
          synchronized (monitor) {
            sleep(wait);
          }
          return epochMillis();
        });
  }

  private static Answer epochMillis() {
    return Answer.json(Long.toString(System.currentTimeMillis()));
  }

  private Answer measured(Endpoint endpoint, Supplier<Answer> handler) {
    long started = requests.start(endpoint);
    Answer answer = answer(handler);
    requests.stop(endpoint, started, answer.status());
    return answer;
  }

  private static Answer answer(Supplier<Answer> handler) {
    try {
      return handler.get();
    } catch (ContractException e) {
      return Answer.problem(e);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "A request failed: {0}", e.toString());
      return Answer.problem(500);
    }
  }

  private static void sleep(Duration wait) {
    try {
      Thread.sleep(wait);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting", e);
    }
  }
}
