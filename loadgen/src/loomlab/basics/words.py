"""How figures are written in sentences."""


def percent(share: float) -> str:
    """Of a share, with three digits that count, or with all before the point."""
    value = 100 * share
    digits = max(3, len(f"{value:.0f}"))
    return f"{value:,.{digits}g} %"
