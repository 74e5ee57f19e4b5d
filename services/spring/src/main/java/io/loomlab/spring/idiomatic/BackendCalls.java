package io.loomlab.spring.idiomatic;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.http.RefusedException;
import java.util.List;

/** The backend, as code that waits for it calls it. */
public interface BackendCalls {
  /** Answer to {@code /authenticate}. */
  record User(String userId) {}

  /** Answer to {@code /authorize}. */
  record Authorities(List<String> authorities) {
    /**
     * Checks that an authority is among them.
     *
     * @throws RefusedException 403 if it is not
     */
    public void require(String authority) {
      if (authorities == null) {
        throw BackendException.unusable("The backend named no authorities");
      }
      if (!authorities.contains(authority)) {
        throw RefusedException.of(403);
      }
    }
  }

  /** Answer to {@code /meetings}. */
  record Meetings(List<Meeting> meetings) {
    /** One of them. */
    public record Meeting(String time, String subject) {}
  }

  /**
   * What a GET gives, read as that type.
   *
   * @param uri a template
   * @throws BackendException if there is no usable answer
   */
  <T> T get(Class<T> type, String uri, Object... variables);
}
