"""What every request passes: limits, the check for forgery, its number, caching, error pages."""
