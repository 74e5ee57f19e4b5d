package io.loomlab.contract.tests;

/**
 * An approach that was started for a test.
 *
 * @param stop ends it
 */
public record Running(int port, int managementPort, Runnable stop) {}
