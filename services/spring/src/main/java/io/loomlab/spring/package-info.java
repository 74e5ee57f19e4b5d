/** What the approaches that run on Spring Boot share, whatever their web stack. */
package io.loomlab.spring;
