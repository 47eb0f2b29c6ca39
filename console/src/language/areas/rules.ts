import { area } from "../area.tsx";
import { rules } from "../en/rules.ts";

export const { t, Rich } = area("rules", rules);
