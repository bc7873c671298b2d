SET lock_timeout = '5s';

-- Why a client was not given what it asked for. Go's fleet.DeniedReason says what each one means.
ALTER TYPE denied_reason ADD VALUE 'type_not_served';
ALTER TYPE denied_reason ADD VALUE 'names_over_limit';
ALTER TYPE denied_reason ADD VALUE 'request_refused';
