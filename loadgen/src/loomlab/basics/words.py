"""How figures are written in sentences."""


def percent(share: float) -> str:
    """Of a share, with three digits that count, or with all before the point."""
    value = 100 * share
    return f"{value:,.0f} %" if abs(value) >= 999.5 else f"{value:.3g} %"
