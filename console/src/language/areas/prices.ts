import { area } from "../area.tsx";
import { prices } from "../en/prices.ts";

export const { t, Rich } = area("prices", prices);
