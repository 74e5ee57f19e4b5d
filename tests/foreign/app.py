"""An ASGI application that waits 50 ms, without a framework."""

import asyncio
from typing import Any


async def app(scope: dict[str, Any], _: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    await asyncio.sleep(0.05)
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"10")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"an answer\n"})
