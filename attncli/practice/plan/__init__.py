"""The interview's date: what to study until then, and the recall to expect."""
