# ctest reads this after it has discovered the tests. This test takes longest, so it starts first.
set_tests_properties(Demo.HoldsItsPromisesAndShowsThem PROPERTIES COST 1000 TIMEOUT 200)
