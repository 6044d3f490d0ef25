# Read by ctest after the program's tests were discovered. It takes longest, so it begins first.
set_tests_properties(Demo.HoldsItsPromisesAndShowsThem PROPERTIES COST 1000 TIMEOUT 200)
