/** What the approaches with Spring MVC share, whatever their servlet server. */
package io.loomlab.mvc;
