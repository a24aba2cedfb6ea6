"""What screens are made of; every widget takes its texts' language and knows nothing of the store."""
