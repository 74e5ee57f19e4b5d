"""Asks the approach to reset its high-water marks."""

import urllib.request

TIMEOUT_S = 5.0


def reset_peaks(management: str) -> bool:
    """Whether it did. `management` is the origin of its management port, such as `http://tomcat-virtual:8081`."""
    asked = urllib.request.Request(f"{management}/peaks", method="PUT")  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except OSError:
        return False
