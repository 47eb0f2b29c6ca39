import { onPostgres } from "../postgres-server.ts";
import { reportDaysSuite } from "./report-days-suite.ts";
import { openPostgresReportGround } from "./report-ground.ts";
import { reportListsSuite } from "./report-lists-suite.ts";
import { reportStoreSuite } from "./report-store-suite.ts";

await onPostgres("reports", () => {
  reportStoreSuite("postgres", openPostgresReportGround);
  reportListsSuite("postgres", openPostgresReportGround);
  reportDaysSuite("postgres", openPostgresReportGround);
});
