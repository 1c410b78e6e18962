"""The language of the catalog: how statements are read, what options they take, and which catalog they come to."""
