"""The HTTP front end of the server: REST, the event stream, and the way in to the pages."""
