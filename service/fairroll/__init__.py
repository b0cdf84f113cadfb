"""fairroll: a dice service whose every roll anybody can verify."""
