/**
 * What the approaches wait for: an HTTP/1.x server that answers after a configured delay. It must
 * never be what limits a run, so it is a bare NIO server: an event loop per processor, each with
 * its own connections and its own queue of deadlines, nothing handed from thread to thread.
 */
package io.loomlab.backend;
