# Not a backend: what serial, openmp and threads share.
keramos_backend_family(host)
