// Keeps the program linking until its first test lands.
