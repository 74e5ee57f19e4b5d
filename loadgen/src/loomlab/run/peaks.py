"""Asks the approach to begin its high-water marks anew."""

import urllib.error
import urllib.request

TIMEOUT_S = 5.0


def reset_peaks(approach: str) -> bool:
    """Whether it did."""
    asked = urllib.request.Request(f"http://{approach}:8081/peaks", method="PUT")
    try:
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except OSError:
        return False
