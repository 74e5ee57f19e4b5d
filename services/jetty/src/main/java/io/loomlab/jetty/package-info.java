/** Jetty with Spring MVC, on platform or on virtual threads. */
package io.loomlab.jetty;
