"""When two distances count as equal."""

TIE_RELATIVE = 1e-9
TIE_ABSOLUTE = 1e-12
