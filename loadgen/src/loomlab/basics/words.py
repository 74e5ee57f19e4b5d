"""How figures are written in sentences."""


def percent(share: float) -> str:
    """Of a share from 0 to 1, with three digits that count."""
    return f"{100 * share:.3g} %"
