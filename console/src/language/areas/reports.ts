import { area } from "../area.tsx";
import { reports } from "../en/reports.ts";

export const { t, Rich } = area("reports", reports);
