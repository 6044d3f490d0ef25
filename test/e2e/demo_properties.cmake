# Read by ctest after the program's tests were discovered.
set_tests_properties(Demo.HoldsItsPromisesAndShowsThem PROPERTIES RUN_SERIAL TRUE TIMEOUT 200)
