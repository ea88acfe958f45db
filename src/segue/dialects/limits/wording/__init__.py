"""Which allowance is over: tables of words by language, and how they are matched."""
