"""The demonstration's podcast episode: half a minute of silence as MP3."""

SECONDS = 30
_FRAME_SECONDS = 0.036


def silence(seconds: int = SECONDS) -> bytes:
    """Silence as MPEG-1 layer III: 32 kbit/s, mono, 32 kHz, frames of 144 bytes and 36 ms."""
    frame = bytes([0xFF, 0xFB, 0x18, 0xC0]) + bytes(140)
    return frame * round(seconds / _FRAME_SECONDS)
