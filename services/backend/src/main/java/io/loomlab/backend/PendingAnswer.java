package io.loomlab.backend;

/**
 * An answer that is waited for.
 *
 * @param deadlineNanos when it is due unless a hang puts it off, a time of {@link System#nanoTime}
 * @param unreadNanos the longest that its request may have been there before it was read
 */
record PendingAnswer(
    long deadlineNanos, long unreadNanos, Connection connection, BackendAnswer answer) {}
