/**
 * Tests of what only the process of an approach shows: which threads serve, what is recorded, what
 * /about tells. Every server's module runs them; tests/conformance holds images to the contract.
 */
package io.loomlab.contract.tests;
