"""How figures are written in sentences."""


def percent(share: float) -> str:
    """The share in percent, with three digits that count, or with all before the point."""
    value = 100 * share
    return f"{value:,.0f} %" if abs(value) >= 999.5 else f"{value:.3g} %"
