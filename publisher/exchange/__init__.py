"""Exchange: whole blogs that come in (`importing`) and go out (`export`)."""
