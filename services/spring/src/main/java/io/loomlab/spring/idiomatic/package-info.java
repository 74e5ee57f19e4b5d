/**
 * The endpoints of {@code LAB_STYLE=idiomatic}, as Spring's reference guide writes them: annotated
 * controllers with typed results, Spring's converters and clients, the actuator's observations.
 */
package io.loomlab.spring.idiomatic;
