"""Line by line instead of on a screen: `--plain`, and `attn grade --watch`."""
