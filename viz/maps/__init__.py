"""Maps: a field on the model's own plane, with what lies under and over it."""
