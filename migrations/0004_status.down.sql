SET lock_timeout = '5s';
DROP TABLE node_exceptions, nack_texts, delivery, server_settled, node_status, nodes, xds_servers;
