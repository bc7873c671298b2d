SET lock_timeout = '5s';

-- Nothing but a number above that of the commit which stands for the release before (test/previous): its programs run on a schema with a higher number than
-- theirs, and these functions are not its own.
