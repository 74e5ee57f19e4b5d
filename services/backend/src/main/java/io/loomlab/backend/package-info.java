/**
 * What the approaches wait for: an HTTP/1.x server that answers after a configured delay. It must
 * never be what limits a run, so Netty's codec runs on event loops of the backend's own: one for
 * each processor, with its own connections and its own queue of deadlines.
 */
package io.loomlab.backend;
