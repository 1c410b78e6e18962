"""The records that an edge writes to people: deliveries one by one or packed, acknowledgements."""
