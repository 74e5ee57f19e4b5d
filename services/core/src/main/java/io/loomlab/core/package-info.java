/** What all approaches share. Plain Java, Micrometer and Jackson: no server, no Spring. */
package io.loomlab.core;
