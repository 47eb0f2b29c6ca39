import { onPostgres } from "../postgres-server.ts";
import { reportChecksSuite } from "./report-checks-suite.ts";
import { reportDaysSuite } from "./report-days-suite.ts";
import { openPostgresReportFixture } from "./report-fixture.ts";
import { reportListsSuite } from "./report-lists-suite.ts";
import { reportSessionsSuite } from "./report-sessions-suite.ts";
import { reportStoreSuite } from "./report-store-suite.ts";
import { reportUsageTableSuite } from "./report-usage-table-suite.ts";

await onPostgres("reports", () => {
  reportStoreSuite("postgres", openPostgresReportFixture);
  reportListsSuite("postgres", openPostgresReportFixture);
  reportSessionsSuite("postgres", openPostgresReportFixture);
  reportDaysSuite("postgres", openPostgresReportFixture);
  reportChecksSuite("postgres", openPostgresReportFixture, 1_050);
  reportUsageTableSuite("postgres", openPostgresReportFixture);
});
