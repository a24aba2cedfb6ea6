"""What lies in bank files: YAML, the shape that it has to have, texts, code, who has read which card."""
