import { reportChecksSuite } from "./report-checks-suite.ts";
import { reportDaysSuite } from "./report-days-suite.ts";
import { openReportFixture } from "./report-fixture.ts";
import { reportListsSuite } from "./report-lists-suite.ts";
import { reportSessionsSuite } from "./report-sessions-suite.ts";
import { reportStoreSuite } from "./report-store-suite.ts";
import { reportUsageTableSuite } from "./report-usage-table-suite.ts";

reportStoreSuite("sqlite", openReportFixture);
reportListsSuite("sqlite", openReportFixture);
reportSessionsSuite("sqlite", openReportFixture);
reportDaysSuite("sqlite", openReportFixture);
reportChecksSuite("sqlite", openReportFixture, 1_050);
reportUsageTableSuite("sqlite", openReportFixture);
