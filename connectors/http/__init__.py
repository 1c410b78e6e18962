"""HTTP: the server, who may ask for what, and the endpoints."""
