# filled in by the packaging work
