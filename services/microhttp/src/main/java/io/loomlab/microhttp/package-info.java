/**
 * The approaches on microhttp: a pool of platform threads, a virtual thread per request, futures.
 */
package io.loomlab.microhttp;
