/** Netty with Spring WebFlux, reactive or with handlers that block a virtual thread each. */
package io.loomlab.webflux;
