# Not a backend: what cuda, hip and sycl share.
keramos_backend_family(simt)
