-- Run once, when the database is made. The connector reads the table as it is, and then every change.
CREATE TABLE stock (
  symbol text PRIMARY KEY,
  exchange text,
  risk double precision,
  price numeric(12, 2)
);
INSERT INTO stock VALUES ('ACME', 'NYSE', 2.5, 10.25), ('IBM', 'NYSE', 1.0, 9.75), ('KLM', 'AMS', 3.0, 8.10);
