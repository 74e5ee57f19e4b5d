"""Makes an approach warm before it is measured: first its compilers' work, then the load itself."""
