SET lock_timeout = '5s';

-- What is kept from a client. Go's fleet.Cause says what each one means.
ALTER TYPE denied_reason ADD VALUE 'withheld_missing';
ALTER TYPE denied_reason ADD VALUE 'withheld_refused';
ALTER TYPE denied_reason ADD VALUE 'withheld_sealed';
ALTER TYPE denied_reason ADD VALUE 'withheld_too_large';
