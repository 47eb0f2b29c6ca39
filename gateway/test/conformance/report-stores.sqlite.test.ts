import { reportDaysSuite } from "./report-days-suite.ts";
import { openReportGround } from "./report-ground.ts";
import { reportListsSuite } from "./report-lists-suite.ts";
import { reportStoreSuite } from "./report-store-suite.ts";

reportStoreSuite("sqlite", openReportGround);
reportListsSuite("sqlite", openReportGround);
reportDaysSuite("sqlite", openReportGround);
