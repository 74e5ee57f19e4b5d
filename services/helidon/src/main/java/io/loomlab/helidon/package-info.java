/** The approach on Helidon SE: a virtual thread per connection. */
package io.loomlab.helidon;
