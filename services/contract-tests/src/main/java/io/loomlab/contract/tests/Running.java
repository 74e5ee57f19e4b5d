package io.loomlab.contract.tests;

/**
 * An approach that was started for a test.
 *
 * @param application is closed in the end
 */
public record Running(int port, int managementPort, AutoCloseable application) {}
