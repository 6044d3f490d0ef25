# ctest reads this after it has discovered the tests. These tests play minutes in seconds: other
# programs beside them would look like outages.
set_tests_properties(
  LabGuest.LeavesNothingAndTouchesNothingOfOthers LabGuest.IsRemovedAfterACrash
  LabGuest.IsRemovedAfterAnErrorAndIfExpectationsAreNotMet
  LabGuest.NodesHaveTheRightsOfNodesAndCtrlCRemovesThem
  LabGuest.TheNextRunRemovesWhatACrashOfThisMachineHasLeft
  LabGuestUser.NeedsOnlyTheRightsThatTheRunNames
  LabRun.KeepsPodsOfAutonomousSitesAndEvictsOthers LabRun.BringsPodsBackFromTheCacheAfterAPowerLoss
  LabRun.StopsDrainedPodsWhenTheirNodeReturns LabRun.PerformsEveryActionOnRealProcesses
  PROPERTIES RUN_SERIAL TRUE TIMEOUT 120)
