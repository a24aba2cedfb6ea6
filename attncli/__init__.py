"""attn: get ready for Transformer and LLM interviews in the terminal."""

__version__ = "0.1.0"
