"""HTTP server: a library that accepts connections and parses requests in front of WSGI.

It knows neither feeds nor the blog. It asks the application (see `application.Application`) for
answers that are in memory, without a thread; a request whose bytes came before is not parsed again.
"""
