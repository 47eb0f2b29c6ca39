import { area } from "../area.tsx";
import { alerts } from "../en/alerts.ts";

export const { t, Rich } = area("alerts", alerts);
