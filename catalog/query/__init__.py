"""From a subscription's statement to a compiled one: question, plan, shape, region."""
