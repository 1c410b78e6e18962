"""Knowledge that only grows: values that are the set of outcomes still possible, and one law for all of them.

Source: Jin and Strom, *Relational Subscription Middleware* (DEBS 2003), 2.4, where a value may only evolve upward in a
partial order. Here that order has a meaning: a value *is* the set of outcomes which it does not exclude.

    order            inclusion: what may evolve to what                      leq
    upper bound      intersection: what two statements say together          merge
    contradiction    no outcome is left
    final            nothing that is shown of it can change any more

        {S, 0, 1, 2}           a tick of which nothing is known
         /   |   |  \\
        S   =0  =1  =2         what it may turn out to be: final

Two things must be kept apart which the paper calls by one name: `merge` puts two statements about the *same* cell
together (repeated, out of order, by two ways); an operator (`span_of_ticks.py`, `difference`, `less`) makes a
statement about a *new* cell of statements about its arguments. Booleans are merged as outcomes, never as readings.

| type | knowledge of |
| --- | --- |
| `Tick` | one place of a history: an event, or silence |
| `Span` | a number, or NULL: MIN, MAX, COUNT, SUM, AVG of ticks (`span_of_ticks.py`), differences |
| `Truth` | a condition |
| `Latest` | the last event of a history |
| `BestK` | the first k of members that are only ever added |
| `Choice` | the first k of candidates that may turn out not to be any |
| `Row`, `Rows` | several values; one value for every key there is |
| `AsOf` | what is not monotone: a value as of a position |
| `TickRanges` | which ticks are known: the doubt horizon, and gaps |

Where we differ from the paper: see each type, and `docs/certainty.md`.
"""
