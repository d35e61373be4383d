"""What modules and criterions are made of: fields, types, calls, copies, text."""
