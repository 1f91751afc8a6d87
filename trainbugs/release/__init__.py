"""The benchmark as a dataset: tables, their description, and what people have to know of them."""
