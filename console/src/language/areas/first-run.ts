import { area } from "../area.tsx";
import { firstRun } from "../en/first-run.ts";

export const { t, Rich } = area("firstRun", firstRun);
