/** The backend clients, that {@code LAB_HTTP_CLIENT} chooses from, without any framework. */
package io.loomlab.clients;
