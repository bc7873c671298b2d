SET lock_timeout = '5s';
ALTER TABLE fleets DROP COLUMN receipt_window, DROP COLUMN forget_nodes_after;
DROP TRIGGER node_status_follow ON node_status;
DROP TRIGGER node_status_follow_change ON node_status;
DROP FUNCTION node_status_follow();
ALTER TABLE nodes DROP COLUMN follows, RESET (fillfactor);
