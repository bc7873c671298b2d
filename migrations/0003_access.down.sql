SET lock_timeout = '5s';
DROP TABLE idempotency_keys, audit_events, node_credentials, operator_tokens, api_tokens;
DROP FUNCTION audit_events_stay();
