package io.loomlab.clients;

import io.loomlab.core.settings.About;

/** A client of the database, with connections that it keeps. */
public interface DatabaseClient extends AutoCloseable {
  /** What it is, as its running objects tell. */
  About.Database about();

  @Override
  void close();
}
