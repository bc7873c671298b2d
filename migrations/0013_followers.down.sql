SET lock_timeout = '5s';
DROP TRIGGER node_status_follow ON node_status;
DROP TRIGGER node_status_follow_change ON node_status;
DROP FUNCTION node_status_follow();
ALTER TABLE nodes DROP COLUMN follows, RESET (fillfactor);
