#error "the core does without this package"
