-- The same table to tidewire: what Debezium publishes of it.
CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2))
WITH ('topic'='shop.public.stock', 'format'='debezium-json', 'decimal'='string')
