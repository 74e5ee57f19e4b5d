/** Netty with Spring WebFlux, reactive from socket to socket. */
package io.loomlab.netty;
