/** The backend clients, one for each value of {@code LAB_HTTP_CLIENT}, without any framework. */
package io.loomlab.clients;
