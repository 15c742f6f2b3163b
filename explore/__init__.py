"""The page of ``eyecast explore``: parameters in a browser, and the run that they make."""
