package io.loomlab.backend;

/**
 * An answer that is waited for.
 *
 * @param deadlineNanos when it is due unless a hang puts it off, a time of {@link System#nanoTime}
 */
record PendingAnswer(long deadlineNanos, Connection connection, Answer answer) {}
