DROP TABLE progress;
DROP TABLE latest;
DROP TABLE event;
