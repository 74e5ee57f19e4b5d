/** The contract as tests over real sockets; every server's module runs them. */
package io.loomlab.contract.tests;
