"""How subscription records come in: read, compiled, refused or held back."""
