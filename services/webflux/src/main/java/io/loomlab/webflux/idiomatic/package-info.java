/** {@code LAB_STYLE=idiomatic} on Spring WebFlux: {@code WebClient}, whose caller may block. */
package io.loomlab.webflux.idiomatic;
