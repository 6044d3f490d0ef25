DROP TABLE record;
DROP TABLE entry;
