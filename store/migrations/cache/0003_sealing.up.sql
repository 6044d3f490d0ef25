-- One row once everything that a key seals is sealed, under names that tell owner and scope.
CREATE TABLE sealing (
  complete INTEGER PRIMARY KEY CHECK (complete = 1)
) STRICT;
