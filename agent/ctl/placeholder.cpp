// Keeps the folder compiling until its first file lands.
