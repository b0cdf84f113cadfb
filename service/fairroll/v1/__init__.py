"""Generated from proto/fairroll/v1 by `make proto`: messages, stubs, descriptors with comments."""
