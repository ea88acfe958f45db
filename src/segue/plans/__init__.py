"""Files ↔ plans. Pure: bytes in, bytes out."""
