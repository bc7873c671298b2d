SET lock_timeout = '5s';
DROP FUNCTION node_retry(uuid, text);
DROP TABLE node_retries;
