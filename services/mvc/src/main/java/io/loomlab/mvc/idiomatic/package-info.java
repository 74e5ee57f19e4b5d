/** {@code LAB_STYLE=idiomatic} on Spring MVC: {@code RestClient}. */
package io.loomlab.mvc.idiomatic;
