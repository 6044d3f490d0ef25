DROP TABLE counter;
DROP TABLE answer;
DROP TABLE object;
DROP TABLE scope;
